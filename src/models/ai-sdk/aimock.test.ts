// Owns: the adapter against servers that others wrote. Our own wire formats could be wrong in the same way as our
// reading of them; these were not made by us.
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CallId } from '../../core/ids.ts';
import type { ModelRequest, RequestMessage, RequestPart } from '../../core/message.ts';
import { toJson } from '../../lib/json.ts';
import { wires } from '../../testing/wires/formats.ts';
import type { ModelReply } from '../port.ts';
import { languageModel } from './language-model.ts';

const SEAL = 'EqoB+/seal==';
const mock = new LLMock({ port: 0, chunkSize: 5 });
beforeAll(async () => {
  const tool = { name: 'read', arguments: '{"path":"a"}' };
  const isFirst = { userMessage: 'read it', hasToolResult: false };
  mock.on({ userMessage: 'hello' }, { content: 'Good morning to you' });
  mock.on(isFirst, { toolCalls: [tool, tool], content: 'Twice.', reasoning: 'Let me look.' });
  mock.on({ userMessage: 'read it', toolResultContains: 'content of a' }, { content: 'It says a.' });
  mock.on(
    { userMessage: 'too fast' },
    { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 7 },
  );
  mock.on(
    { userMessage: 'bad block' },
    { error: { message: 'no such block', type: 'invalid_request_error' }, status: 400 },
  );
  mock.on({ userMessage: 'busy' }, { error: { message: 'busy', type: 'overloaded_error' }, status: 529 });
  mock.on({ userMessage: 'filter' }, { content: 'I', finishReason: 'content_filter' });
  mock.on({ userMessage: 'decline' }, { content: 'I', finishReason: 'refusal' });
  mock.on(
    { userMessage: 'cut it' },
    { toolCalls: [{ name: 'read', arguments: '{"path":"a' }], finishReason: 'length' },
  );
  mock.on({ userMessage: 'think' }, { content: 'Thought.', reasoning: 'Hm.', reasoningSignature: SEAL });
  mock.on({ userMessage: 'and then' }, { content: 'Then.' });
  mock.on({ userMessage: 'look' }, { content: 'A cat.' });
  mock.on(
    { userMessage: 'break off' },
    { content: 'This will never be said to its end' },
    { truncateAfterChunks: 3, latency: 5 },
  );
  await mock.start();
});
afterAll(() => mock.stop());

/** What left for the fake, which keeps only what it understood of it. */
const fetched = vi.spyOn(globalThis, 'fetch');
const sent = (): string => String(fetched.mock.lastCall?.[1]?.body);
afterAll(() => fetched.mockRestore());

const tools = [{ name: 'read', description: 'Reads a file.', input: { type: 'object', properties: {} } }];
const user = (text: string): RequestMessage => ({ role: 'user', text });

describe.each(wires)('$name', (wire) => {
  function ask(...messages: RequestMessage[]): Promise<ModelReply> {
    const request: ModelRequest = { system: 'be brief', tools, messages };
    const signal = new AbortController().signal;
    return languageModel(wire.open(mock.url, 'k'), { name: 'a/b' }).generate(request, { signal });
  }

  it('text', async () => {
    const reply = await ask(user('hello'));
    expect(reply.parts.at(-1)).toMatchObject({ type: 'text', text: 'Good morning to you' });
    expect(reply.finish).toBe('stop');
  });

  it('B020 a tool loop', async () => {
    const first = await ask(user('read it'));
    const said = first.parts.map((part) =>
      part.type === 'tool-call' ? part.input : 'text' in part && part.text,
    );
    const thought = wire.name === 'OpenAI Chat' ? [] : ['Let me look.'];
    expect(said).toEqual([...thought, 'Twice.', { path: 'a' }, { path: 'a' }]);
    const parts = first.parts.map((part, n) =>
      part.type === 'tool-call' ? { ...part, call: `call_${n}` } : part,
    );
    const calls = parts.flatMap((part) => ('call' in part ? [part.call as CallId] : []));
    const results = calls.map((call) => ({
      call,
      tool: 'read',
      status: 'done' as const,
      text: 'content of a',
    }));
    const last = await ask(
      user('read it'),
      { role: 'assistant', parts: toJson(parts) as unknown as RequestPart[] },
      { role: 'tool', results },
    );
    expect(last.parts.at(-1)).toMatchObject({ text: 'It says a.' });
  });

  it('a rate limit', async () => {
    await expect(ask(user('too fast'))).rejects.toMatchObject({
      code: 'rate_limited',
      retry: true,
      retryAfterMs: 7_000,
    });
  });

  it('B076 a request that is refused, and an overload that passes', async () => {
    await expect(ask(user('bad block'))).rejects.toMatchObject({ code: 'refused_request', retry: false });
    await expect(ask(user('busy'))).rejects.toMatchObject({ code: 'overloaded', retry: true });
  });

  // The fake has no refusal in the format of OpenAI's Responses; ours has (wires-own.test.ts).
  it.skipIf(wire.name === 'OpenAI Responses')('B075 a refusal', async () => {
    expect(await ask(user(wire.name === 'Anthropic Messages' ? 'decline' : 'filter'))).toMatchObject({
      finish: 'refusal',
    });
  });

  it('B011 arguments that are cut', async () => {
    const reply = await ask(user('cut it'));
    expect(reply.parts.filter((part) => part.type === 'tool-call')).toMatchObject([
      { tool: 'read', input: {}, broken: expect.any(String) },
    ]);
  });

  // The fake signs what only Anthropic signs.
  it.runIf(wire.name === 'Anthropic Messages')('B020 a signature goes back as it came', async () => {
    const reply = await ask(user('think'));
    expect(reply.parts).toMatchObject([
      { type: 'reasoning', text: 'Hm.', meta: { anthropic: { signature: SEAL } } },
      { type: 'text', text: 'Thought.' },
    ]);
    await ask(user('think'), { role: 'assistant', parts: reply.parts as RequestPart[] }, user('and then'));
    expect(sent()).toContain(JSON.stringify({ type: 'thinking', thinking: 'Hm.', signature: SEAL }));
  });

  it('an image', async () => {
    const data = Uint8Array.from([137, 80, 78, 71, 0, 255]);
    const reply = await ask({ role: 'user', text: 'look', images: [{ mediaType: 'image/png', data }] });
    expect(reply.parts.at(-1)).toMatchObject({ text: 'A cat.' });
    expect(sent()).toContain(Buffer.from(data).toString('base64'));
  });

  it('B053 a stream that breaks off', async () => {
    await expect(ask(user('break off'))).rejects.toMatchObject({ code: 'incomplete', retry: true });
  });
});
