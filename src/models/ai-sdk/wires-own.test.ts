// Owns: what only one provider's wire does. What all of them do is in wires.test.ts.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallId } from '../../core/ids.ts';
import type { RequestMessage, RequestPart } from '../../core/message.ts';
import { toJson } from '../../lib/json.ts';
import { type Wire, wires } from '../../testing/wires/formats.ts';
import { startWireServer, type WireServer } from '../../testing/wires/server.ts';
import type { ModelReply } from '../port.ts';
import { knownPrices } from '../prices.ts';
import type { LanguageModelLike } from './interface.ts';
import { languageModel } from './language-model.ts';

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer();
});
afterEach(() => server.close());

const tools = ['first', 'second'].map((name) => ({ name, description: '', input: { type: 'object' } }));
const user = (text: string): RequestMessage => ({ role: 'user', text });

function ask(model: LanguageModelLike, ...messages: RequestMessage[]): Promise<ModelReply> {
  const signal = new AbortController().signal;
  return languageModel(model, { name: 'a/b' }).generate({ system: 'rules', tools, messages }, { signal });
}

function stored(reply: ModelReply): RequestMessage {
  const parts = reply.parts.map((part, n) =>
    part.type === 'tool-call' ? { ...part, call: `call_${n}` } : part,
  );
  return { role: 'assistant', parts: toJson(parts) as unknown as RequestPart[] };
}

const result = (call: string): RequestMessage => ({
  role: 'tool',
  results: [{ call: call as CallId, tool: 'first', status: 'unknown', text: 'no answer came' }],
});

const wire = (name: string): Wire => wires.find((one) => one.name === name) as Wire;
const body = () => JSON.parse(server.requests.at(-1)?.text ?? '') as Record<string, unknown>;
const sse = (...events: { type: string }[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`);

describe('OpenAI Responses', () => {
  const open = (model = 'gpt-5.5') =>
    createOpenAI({ apiKey: 'k', baseURL: `${server.url}/v1` }).responses(model);
  const done = wire('OpenAI Responses').frames([{ text: 'ok' }], 'stop');

  it('stores nothing there, and asks for the encrypted reasoning of models that reason', async () => {
    server.answer({ chunks: done }, { chunks: done });
    await ask(open(), user('go'));
    expect(body()).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    await ask(open('gpt-4.1'), user('go'));
    expect(body()).toMatchObject({ store: false });
    expect(body()).not.toHaveProperty('include');
  });

  it('B020 a thought in two summaries comes back as the one item that it was', async () => {
    const item = { type: 'reasoning', id: 'rs_1', encrypted_content: 'sealed' };
    const part = (summary_index: number, text: string) => [
      { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index },
      { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index, delta: text },
      { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', summary_index },
    ];
    const [created = '', ...rest] = done;
    const thought = sse(
      {
        type: 'response.output_item.added',
        output_index: 9,
        item: { ...item, encrypted_content: null },
      } as never,
      ...part(0, 'one'),
      ...part(1, 'two'),
      { type: 'response.output_item.done', output_index: 9, item } as never,
    );
    server.answer({ chunks: [created, ...thought, ...rest] }, { chunks: done });
    const reply = await ask(open(), user('go'));
    await ask(open(), user('go'), stored(reply), user('more'));
    const summary = ['one', 'two'].map((text) => ({ type: 'summary_text', text }));
    expect(body().input).toContainEqual({ ...item, summary });
    expect(body().input).toContainEqual(expect.objectContaining({ id: 'msg_0', role: 'assistant' }));
  });

  it('B075 a refusal in words keeps the words', async () => {
    const words = { type: 'response.refusal.delta', item_id: 'msg_1', output_index: 0, content_index: 0 };
    const [created = ''] = done;
    const item = { type: 'message', id: 'msg_1' };
    server.answer({
      chunks: [
        created,
        ...sse(
          { type: 'response.output_item.added', output_index: 0, item } as never,
          { ...words, delta: 'I will not.' } as never,
          { type: 'response.output_item.done', output_index: 0, item } as never,
        ),
        done.at(-1) ?? '',
      ],
    });
    expect(await ask(open(), user('bad'))).toMatchObject({
      parts: [{ text: 'I will not.' }],
      finish: 'refusal',
    });
  });
});

describe('B075 each provider has its own ways to refuse', () => {
  const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
  const chat = (delta: object, finish_reason: string | null) =>
    frame({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] });
  const inWords = [chat({ refusal: 'I will ' }, null), chat({ refusal: 'not.' }, null), chat({}, 'stop')];
  const [created = ''] = wire('OpenAI Responses').frames([], 'stop');
  const response = { id: 'resp_1', created_at: 1, model: 'm', usage: { input_tokens: 1, output_tokens: 1 } };
  const filtered = { ...response, incomplete_details: { reason: 'content_filter' } };
  const google = (finishReason: string) =>
    frame({ candidates: [{ content: { parts: [{ text: 'I' }] }, finishReason }] });

  it.each<[string, string, readonly string[], string]>([
    [
      'OpenAI Responses',
      'a filter',
      [created, frame({ type: 'response.incomplete', response: filtered })],
      '',
    ],
    ['OpenAI Chat', 'a refusal in words', inWords, 'I will not.'],
    ['OpenAI Chat', 'a filter', [chat({ content: 'I' }, 'content_filter')], 'I'],
    ['OpenAI-compatible', 'a refusal in words', inWords, 'I will not.'],
    ['OpenAI-compatible', 'a filter', [chat({ content: 'I' }, 'content_filter')], 'I'],
    [
      'Anthropic Messages',
      'in mid-sentence',
      wire('Anthropic Messages').frames([{ text: 'I' }], 'refusal'),
      'I',
    ],
    ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'].map(
      (reason) => ['Google Gemini', reason, [google(reason)], 'I'] as [string, string, string[], string],
    ),
    ['Google Gemini', 'IMAGE_PROHIBITED_CONTENT', [google('IMAGE_PROHIBITED_CONTENT')], 'I'],
    ['Google Gemini', 'MODEL_ARMOR', [google('MODEL_ARMOR')], 'I'],
  ])('%s: %s', async (name, _, chunks, words) => {
    server.answer({ chunks });
    const reply = await ask(wire(name).open(server.url, 'k'), user('bad'));
    expect(reply.finish).toBe('refusal');
    expect(reply.parts).toMatchObject(words === '' ? [] : [{ type: 'text', text: words }]);
  });
});

describe('a file that another model drew', () => {
  it.each(wires.filter(({ name }) => name !== 'Google Gemini'))('is named in words to $name', async (to) => {
    server.answer({ chunks: to.frames([{ text: 'ok' }], 'stop') });
    const drawn: RequestPart = { type: 'file', mediaType: 'image/png', data: new Uint8Array(2048) };
    await ask(to.open(server.url, 'k'), user('draw'), { role: 'assistant', parts: [drawn] }, user('bluer'));
    expect(server.requests.at(-1)?.text).toContain('[image, png, 2 KB: you made it]');
  });
});

describe('Anthropic Messages', () => {
  const open = () => createAnthropic({ apiKey: 'k', baseURL: `${server.url}/v1` })('claude-sonnet-5');
  const anthropic = wire('Anthropic Messages');

  it('B020 hidden thoughts, redacted or without text, come back in their places', async () => {
    const frames = anthropic.frames([{ thought: '', seal: 'sealed' }, { text: 'ok' }], 'stop');
    const redacted = { type: 'redacted_thinking', data: 'opaque==' };
    const block = sse(
      { type: 'content_block_start', index: 7, content_block: redacted } as never,
      { type: 'content_block_stop', index: 7 } as never,
    );
    server.answer({ chunks: [frames[0] ?? '', ...block, ...frames.slice(1)] }, { chunks: frames });
    const reply = await ask(open(), user('go'));
    await ask(open(), user('go'), stored(reply), user('more'));
    expect(body().messages).toContainEqual({
      role: 'assistant',
      content: [
        redacted,
        { type: 'thinking', thinking: '', signature: 'sealed' },
        { type: 'text', text: 'ok' },
      ],
    });
  });

  it('charges what it wrote to its cache, which the marks ask for, as dear as it is', async () => {
    server.answer({ chunks: anthropic.frames([{ text: 'ok' }], 'stop') });
    const { usage } = await ask(open(), user('go'));
    const { price } = knownPrices();
    expect(JSON.stringify(body())).toContain('"cache_control":{"type":"ephemeral"}');
    // 5 plain at $2, 2 written at $2.50, 4 cached at $0.20 and 7 of output at $10 for a million, rounded up.
    expect(await price('anthropic/claude-sonnet-5', usage)).toMatchObject({ microUsd: 86 });
    const { cacheWriteTokens, ...unsaid } = usage;
    expect(cacheWriteTokens).toBe(2);
    expect(await price('anthropic/claude-sonnet-5', unsaid)).toMatchObject({ microUsd: 85 });
  });

  it('marks the points up to which a prompt can be cached, and tells unknown from an error', async () => {
    const call = { call: 'x', tool: 'first', args: '{}' };
    server.answer(
      { chunks: anthropic.frames([call], 'calls') },
      { chunks: anthropic.frames([{ text: 'ok' }], 'stop') },
    );
    const reply = await ask(open(), user('go'));
    await ask(open(), user('go'), stored(reply), result('call_0'));
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(body().system).toEqual([{ type: 'text', text: 'rules', ...mark }]);
    const [, , last] = body().messages as { content: object[] }[];
    expect(last?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'call_0', content: 'no answer came', ...mark },
    ]);
    expect(server.requests.at(-1)?.text.split('cache_control')).toHaveLength(3);
  });

  it('B011 a call cut before its first letter does not run with no arguments', async () => {
    server.answer({ chunks: anthropic.frames([{ call: 'x', tool: 'first', args: '' }], 'length') });
    expect((await ask(open(), user('go'))).parts).toMatchObject([
      { broken: expect.stringContaining('limit') },
    ]);
  });
});

describe('Google Gemini', () => {
  const open = () =>
    createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${server.url}/v1beta` })('gemini-3.5-flash');

  it('B020 signatures of calls come back on their calls', async () => {
    const part = (name: string, thoughtSignature?: string) => ({
      functionCall: { name, args: { n: 1 } },
      ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
    });
    const parts = [part('first', 'signed+by/google=='), part('second')];
    const frame = { candidates: [{ content: { parts }, finishReason: 'STOP' }] };
    server.answer(
      { chunks: [`data: ${JSON.stringify(frame)}\n\n`] },
      { chunks: wire('Google Gemini').frames([{ text: 'ok' }], 'stop') },
    );
    const reply = await ask(open(), user('go'));
    await ask(open(), user('go'), stored(reply), result('call_0'));
    const [, model] = body().contents as { parts: { functionCall: object; thoughtSignature?: string }[] }[];
    expect(model?.parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual([
      'signed+by/google==',
      undefined,
    ]);
  });

  it('what the model drew is kept byte for byte and goes back with its signature', async () => {
    const data = Buffer.from([137, 80, 78, 71, 0, 255, 254]).toString('base64');
    const parts = [
      { text: 'Here it is.' },
      { inlineData: { mimeType: 'image/png', data }, thoughtSignature: 'drawn+by/google==' },
    ];
    const frame = { candidates: [{ content: { parts }, finishReason: 'STOP' }] };
    server.answer(
      { chunks: [`data: ${JSON.stringify(frame)}\n\n`] },
      { chunks: wire('Google Gemini').frames([{ text: 'ok' }], 'stop') },
    );
    const reply = await ask(open(), user('draw'));
    expect(reply.parts).toMatchObject([
      { type: 'text', text: 'Here it is.' },
      { type: 'file', mediaType: 'image/png', data: new Uint8Array(Buffer.from(data, 'base64')) },
    ]);
    await ask(
      open(),
      user('draw'),
      { role: 'assistant', parts: reply.parts as RequestPart[] },
      user('bluer'),
    );
    const [, model] = body().contents as { parts: object[] }[];
    expect(model?.parts).toEqual(parts);
  });

  it('B075 a prompt that was blocked is a refusal and no cut stream', async () => {
    const frame = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
    server.answer({ chunks: [`data: ${JSON.stringify(frame)}\n\n`] });
    expect(await ask(open(), user('bad'))).toMatchObject({ parts: [], finish: 'refusal' });
  });
});
