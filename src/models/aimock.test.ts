// Owns: the adapter against servers that others wrote. Our own wire formats could be wrong in the same way as our
// reading of them; these were not made by us.
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallId } from '../core/ids.ts';
import type { ModelRequest, RequestMessage, RequestPart } from '../core/message.ts';
import { toJson } from '../lib/json.ts';
import { languageModel } from './language-model.ts';
import type { ModelReply } from './port.ts';
import { wires } from './wire-formats.ts';

const mock = new LLMock({ port: 0, chunkSize: 5 });
beforeAll(async () => {
  const tool = { name: 'read', arguments: '{"path":"a"}' };
  const isFirst = { userMessage: 'read it', hasToolResult: false };
  mock.on({ userMessage: 'hello' }, { content: 'Good morning to you' });
  mock.on(isFirst, { toolCalls: [tool, tool], content: 'Twice.', reasoning: 'Let me look.' });
  mock.on({ userMessage: 'read it', toolResultContains: 'content of a' }, { content: 'It says a.' });
  mock.on(
    { userMessage: 'too fast' },
    { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 },
  );
  mock.on(
    { userMessage: 'break off' },
    { content: 'This will never be said to its end' },
    { truncateAfterChunks: 3, latency: 5 },
  );
  await mock.start();
});
afterAll(() => mock.stop());

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
    await expect(ask(user('too fast'))).rejects.toMatchObject({ code: 'rate_limited', retry: true });
  });

  it('B053 a stream that breaks off', async () => {
    await expect(ask(user('break off'))).rejects.toMatchObject({ code: 'incomplete', retry: true });
  });
});
