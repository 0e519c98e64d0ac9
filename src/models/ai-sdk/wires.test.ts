// Owns: what must hold over every provider's real client and wire: one suite, five wires. Rules of prompt, reply and
// error that need no wire have their own tests.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallId } from '../../core/ids.ts';
import type { CallResult, ModelRequest, RequestMessage, RequestPart } from '../../core/message.ts';
import { isRecord, toJson } from '../../lib/json.ts';
import { wires } from '../../testing/wires/formats.ts';
import { startWireServer, type WireServer } from '../../testing/wires/server.ts';
import { ModelError, type ModelReply, type ReplyPart } from '../port.ts';
import { languageModel } from './language-model.ts';

const KEY = 'test-key-that-nobody-may-see';
const call = (n: number): CallId => `call_${n}` as CallId;

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer();
});
afterEach(() => server.close());

describe.each(wires)('$name', (wire) => {
  const model = () => languageModel(wire.open(server.url, KEY), { name: 'a/b', secrets: [KEY] });

  async function ask(messages: readonly RequestMessage[] = [user('go')]): Promise<ModelReply> {
    return model().generate(request(messages), { signal: new AbortController().signal });
  }

  const refused = (messages?: readonly RequestMessage[]): Promise<ModelError> => rejected(ask(messages));

  const sent = (at = -1): string => server.requests.at(at)?.text ?? '';

  it('text: deltas as they come, the whole at the end, usage', async () => {
    server.answer({ chunks: wire.frames([{ text: 'Good morning' }], 'stop') });
    const shown: string[] = [];
    const signal = new AbortController().signal;
    const reply = await model().generate(request([user('hi')]), {
      signal,
      onText: (text) => shown.push(text),
    });
    expect(shown).toEqual(['Good m', 'orning']);
    expect(textsOf(reply.parts)).toEqual(['Good morning']);
    expect(reply.finish).toBe('stop');
    const written = wire.writes ? { cacheWriteTokens: 2 } : {};
    expect(reply.usage).toEqual({ inputTokens: 11, outputTokens: 7, cachedTokens: 4, ...written });
    expect(sent()).toContain('"be brief"');
    expect(sent()).toContain('the file to read');
  });

  it('B020 a tool loop sends thoughts back sealed as they came, after a stay in the store', async () => {
    const seal = 'EqoB+/seal==\u00e9 "quoted" \\ \u2028';
    const thought = 'First  look,\n then \ud83d\ude00 leap.';
    const said = [
      { thought, seal },
      { text: 'I look.' },
      { call: 'theirs', tool: 'read', args: '{"path":"a"}' },
    ];
    server.answer(
      { chunks: wire.frames(said, 'calls') },
      { chunks: wire.frames([{ text: 'Done' }], 'stop') },
    );
    const first = await ask();
    expect(first.finish).toBe('tool-calls');
    expect(first.parts.at(-1)).toMatchObject({ type: 'tool-call', tool: 'read', input: { path: 'a' } });
    const last = await ask([user('go'), stored(first), results([call(1), 'done', 'content of a'])]);
    expect(textsOf(last.parts)).toEqual(['Done']);
    if (wire.seals) {
      expect(sent()).toContain(JSON.stringify(seal));
      expect(sent()).toContain(JSON.stringify(thought));
      expect(sent()).not.toContain('not yet');
    }
    expect(sent()).toContain('content of a');
    expect(sent()).not.toContain('theirs');
  });

  it('parts stand in the order in which they began', async () => {
    const said = [
      { thought: 'hm', seal: 's1' },
      { text: 'Reading both.' },
      { call: 'x', tool: 'read', args: '{"path":"a"}' },
      { call: 'y', tool: 'read', args: '{"path":"b"}' },
    ];
    server.answer({ chunks: wire.frames(said, 'calls') });
    const kinds = (await ask()).parts.map((part) => (part.type === 'tool-call' ? part.input : part.type));
    const thought = wire.name === 'OpenAI Chat' ? [] : ['reasoning'];
    expect(kinds).toEqual([...thought, 'text', { path: 'a' }, { path: 'b' }]);
  });

  it('B053 a stream that stops cleanly before its end mark is no reply', async () => {
    const said = [{ text: 'Half a' }, { call: 'x', tool: 'read', args: '{"path":"a"}' }];
    server.answer({ chunks: wire.frames(said, 'nothing') });
    expect(await refused()).toMatchObject({ code: 'incomplete', retry: true, partial: 'Half a' });
  });

  it('B053 nor is one whose connection drops', async () => {
    server.answer({ chunks: wire.frames([{ text: 'Half a' }], 'nothing'), end: 'cut' });
    expect(await refused()).toMatchObject({ code: 'incomplete', retry: true });
  });

  it('B074 overload inside a 200 stream can be tried again, after text and before', async () => {
    server.answer(
      { chunks: [...wire.frames([{ text: 'Half a' }], 'nothing'), wire.overload] },
      { chunks: [wire.overload] },
    );
    expect(await refused()).toMatchObject({ code: 'overloaded', retry: true, partial: 'Half a' });
    expect(await refused()).toMatchObject({ code: 'overloaded', retry: true, partial: '' });
  });

  it('429 says how long to wait', async () => {
    const body = { status: 429, chunks: [wire.error('rate_limit_error', 'slow down')] };
    const json = { 'content-type': 'application/json' };
    const date = { date: 'Wed, 01 Jan 2025 00:00:00 GMT', 'retry-after': 'Wed, 01 Jan 2025 00:00:07 GMT' };
    server.answer(
      { ...body, headers: { ...json, 'retry-after': '3' } },
      { ...body, headers: { ...json, 'retry-after-ms': '1500', 'retry-after': '2' } },
      { ...body, headers: { ...json, ...date } },
      { ...body, headers: json },
    );
    const waits = [await refused(), await refused(), await refused(), await refused()];
    expect(waits.map(({ retryAfterMs }) => retryAfterMs)).toEqual([3000, 1500, 7000, null]);
    for (const error of waits) expect(error).toMatchObject({ code: 'rate_limited', retry: true });
    expect(waits[0]?.message).toContain('slow down');
  });

  it('B076 a request that is refused is not worth another try', async () => {
    server.answer({ status: 400, chunks: [wire.error('invalid_request_error', 'the schema is wrong')] });
    const error = await refused();
    expect(error).toMatchObject({ code: 'refused_request', retry: false });
    expect(error.message).toContain('the schema is wrong');
    expect(server.requests).toHaveLength(1);
  });

  it('no error shows the key, also when the provider repeats it', async () => {
    server.answer({ status: 401, chunks: [wire.error('authentication_error', `no such key: ${KEY}`)] });
    const error = await refused();
    expect(error).toMatchObject({ code: 'unauthorized', retry: false });
    expect(error.message).toContain('no such key: [key]');
    expect(JSON.stringify({ ...error, stack: error.stack, cause: error.cause })).not.toContain(KEY);
  });

  it('5xx and silence can be tried again', async () => {
    server.answer({ status: 503, chunks: ['<html>upstream</html>'] });
    expect(await refused()).toMatchObject({ code: 'overloaded', retry: true });
    await server.close();
    const error = await refused();
    expect(error).toMatchObject({ code: 'unreachable', retry: true });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('an abort in mid-stream ends the call with the text so far', async () => {
    server.answer({ chunks: wire.frames([{ text: 'So far so' }], 'nothing'), end: 'hang' });
    const stop = new AbortController();
    let shown = '';
    const onText = (delta: string) => {
      shown += delta;
      if (shown === 'So far so') stop.abort(new Error('a person stopped it'));
    };
    const answer = model().generate(request([user('go')]), { signal: stop.signal, onText });
    expect(await rejected(answer)).toMatchObject({ code: 'aborted', retry: false, partial: 'So far so' });
  });

  it('B011 arguments cut at the output limit: a broken call, valid JSON on the wire', async () => {
    const said = [{ text: 'Writing.' }, { call: 'x', tool: 'read', args: '{"path":"a' }];
    server.answer({ chunks: wire.frames(said, 'length') }, { chunks: wire.frames([{ text: 'ok' }], 'stop') });
    const reply = await ask();
    expect(reply.finish).toBe('length');
    expect(reply.parts.at(-1)).toMatchObject({
      tool: 'read',
      input: {},
      broken: expect.stringContaining('limit'),
    });
    await ask([user('go'), stored(reply), results([call(1), 'failed', 'cut, write less'])]);
    expect(sent()).not.toContain('path\\":\\"a');
    expect(() => JSON.parse(sent())).not.toThrow();
  });

  it('B179 arguments that are no JSON are broken, whatever the reason for stopping says', async () => {
    server.answer({ chunks: wire.frames([{ call: 'x', tool: 'read', args: '{"path":"a' }], 'calls') });
    expect((await ask()).parts).toMatchObject([
      { tool: 'read', input: {}, broken: expect.stringContaining('JSON') },
    ]);
  });

  it('B107 empty and repeated call ids do no harm', async () => {
    const args = ['{"path":"a"}', '{"path":"b"}'];
    const twice = (id: string) => args.map((text) => ({ call: id, tool: 'read', args: text }));
    server.answer(
      { chunks: wire.frames(twice(''), 'calls') },
      { chunks: wire.frames(twice('same'), 'calls') },
      { chunks: wire.frames([{ text: 'ok' }], 'stop') },
    );
    const inputs = (reply: ModelReply) => reply.parts.map((part) => part.type === 'tool-call' && part.input);
    const first = await ask();
    const second = await ask();
    for (const reply of [first, second]) expect(inputs(reply)).toEqual([{ path: 'a' }, { path: 'b' }]);
    await ask([
      user('go'),
      stored(first, 1),
      results([call(1), 'done', 'result 1'], [call(2), 'done', 'result 2']),
      stored(second, 3),
      results([call(3), 'done', 'result 3'], [call(4), 'done', 'result 4']),
    ]);
    for (const n of [1, 2, 3, 4]) expect(sent().split(`result ${n}`)).toHaveLength(2);
    // Gemini pairs by place, the others by id: once in the call, once in its result.
    if (!wire.name.includes('Gemini')) expect(sent().split('"call_3"')).toHaveLength(3);
    expect(sent()).not.toContain('same');
  });

  it('images reach the wire byte for byte, behind their words, each time again', async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, at) => (at * 7) % 256);
    const second = Uint8Array.from([255, 216, 255, 0, 1]);
    const images = [
      { mediaType: 'image/png', data: bytes },
      { mediaType: 'image/jpeg', data: second },
    ];
    const ok = { chunks: wire.frames([{ text: 'ok' }], 'stop') };
    server.answer(ok, ok);
    await ask([{ role: 'user', text: 'look at this', images }]);
    await ask([{ role: 'user', text: 'look at this', images }, stored(said('a cat')), user('and now?')]);
    for (const at of [0, 1]) {
      const found = imagesIn(JSON.parse(sent(at)));
      expect(found).toEqual([
        ['image/png', Buffer.from(bytes).toString('base64')],
        ['image/jpeg', Buffer.from(second).toString('base64')],
      ]);
      expect(sent(at).indexOf('look at this')).toBeLessThan(sent(at).indexOf(found[0]?.[1] ?? '?'));
    }
  });

  it('B110 a body that is too large is refused for good, not tried again', async () => {
    server.answer({ status: 413, chunks: [wire.error('request_too_large', 'the body is too large')] });
    const images = [{ mediaType: 'image/png', data: new Uint8Array(9) }];
    expect(await refused([{ role: 'user', text: 'look', images }])).toMatchObject({
      code: 'refused_request',
      retry: false,
    });
  });

  it('B075 a refusal without content is a reply of its own kind', async () => {
    server.answer({ chunks: wire.frames([], 'refusal') }, { chunks: wire.frames([{ text: 'ok' }], 'stop') });
    const refusal = await ask();
    expect(refusal).toMatchObject({ parts: [], finish: 'refusal' });
    await ask([user('bad'), stored(refusal), user('good')]);
    expect(emptiness(JSON.parse(sent()))).toEqual([]);
  });

  it('B004 nothing empty is ever sent: aborted turns, bare reasoning, silent results', async () => {
    const half: RequestPart = {
      type: 'reasoning',
      text: 'hm',
      meta: { anthropic: { signature: 's' }, google: {} },
    };
    const tool: RequestPart = { type: 'tool-call', call: call(1), tool: 'read', input: {} };
    server.answer({ chunks: wire.frames([{ text: 'ok' }], 'stop') });
    await ask([
      user('one'),
      { role: 'assistant', parts: [] },
      user(' \n'),
      { role: 'assistant', parts: [half] },
      { role: 'assistant', parts: [half, { type: 'text', text: '' }] },
      user('two'),
      { role: 'assistant', parts: [{ type: 'text', text: ' ' }, tool, { type: 'reasoning', text: '' }] },
      results([call(1), 'done', '']),
      { role: 'tool', results: [] },
    ]);
    expect(emptiness(JSON.parse(sent()))).toEqual([]);
    expect(sent()).not.toContain('hm');
  });
});

const user = (text: string): RequestMessage => ({ role: 'user', text });

function request(messages: readonly RequestMessage[]): ModelRequest {
  const path = { type: 'string', description: 'the file to read' };
  const input = { type: 'object', properties: { path } };
  return { system: 'be brief', tools: [{ name: 'read', description: 'Reads a file.', input }], messages };
}

/** A reply as the runtime keeps it: calls with our ids, through JSON. */
function stored(reply: ModelReply, firstCall = 1): RequestMessage {
  let next = firstCall;
  const parts = reply.parts.map((part) =>
    part.type === 'tool-call' ? { ...part, call: call(next++) } : part,
  );
  return { role: 'assistant', parts: toJson(parts) as unknown as RequestPart[] };
}

function results(...list: readonly [CallId, CallResult['status'], string][]): RequestMessage {
  return {
    role: 'tool',
    results: list.map(([id, status, text]) => ({ call: id, tool: 'read', status, text })),
  };
}

/** The images in a request body, whatever its format: type and base64. */
function imagesIn(value: unknown): (readonly [mediaType: string, data: string])[] {
  if (typeof value === 'string') {
    const [, type, data] = /^data:([^;]+);base64,(.*)$/.exec(value) ?? [];
    return type === undefined || data === undefined ? [] : [[type, data]];
  }
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  if (!isRecord(value)) return [];
  const type = value.media_type ?? value.mimeType;
  if (typeof type === 'string' && typeof value.data === 'string') return [[type, value.data]];
  return Object.values(value).flatMap(imagesIn);
}

const said = (text: string): ModelReply => ({
  parts: [{ type: 'text', text }],
  finish: 'stop',
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
});

const textsOf = (parts: readonly ReplyPart[]): string[] =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

async function rejected(answer: Promise<unknown>): Promise<ModelError> {
  const error = await answer.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

/** Where a request body holds an empty text or an empty list of content. */
function emptiness(value: unknown, path = ''): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [path] : [];
  if (Array.isArray(value)) {
    return value.length === 0 ? [path] : value.flatMap((item, at) => emptiness(item, `${path}[${at}]`));
  }
  if (!isRecord(value)) return [];
  // Chat's way to say that there are only calls; arguments may be empty.
  const members = Object.entries(value).filter(
    ([key, member]) => member !== null && key !== 'input' && key !== 'args',
  );
  return members.flatMap(([key, member]) => emptiness(member, `${path}.${key}`));
}
