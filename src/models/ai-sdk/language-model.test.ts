// Owns: L1 to L3, in process. What holds over a real wire is in wires.test.ts.
import { describe, expect, it } from 'vitest';
import type { ModelError } from '../port.ts';
import type { CallOptions, LanguageModelLike } from './interface.ts';
import { languageModel } from './language-model.ts';

const request = { system: '', tools: [], messages: [{ role: 'user', text: 'go' }] } as const;
const never = new AbortController().signal;

const usage = { inputTokens: { total: 1, cacheRead: 0 }, outputTokens: { total: 1 } };
const stop = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
const text = (delta: string) => ({ type: 'text-delta', id: '0', delta });

interface Fake extends LanguageModelLike {
  readonly calls: CallOptions[];
  cancelled: number;
}

/** A model whose stream has these parts and then ends, or stays open. */
function fake(parts: readonly object[], { open = false, provider = 'fake.chat', delay = never } = {}): Fake {
  const model: Fake = {
    specificationVersion: 'v4',
    provider,
    modelId: 'm',
    calls: [],
    cancelled: 0,
    async doStream(options) {
      model.calls.push(options);
      if (delay !== never) await new Promise((resolve) => delay.addEventListener('abort', resolve));
      const stream = new ReadableStream<{ type: string }>({
        start(controller) {
          for (const part of parts) controller.enqueue(part as { type: string });
          if (!open) controller.close();
        },
        cancel() {
          model.cancelled++;
        },
      });
      return { stream };
    },
  };
  return model;
}

const failure = (answer: Promise<unknown>): Promise<ModelError> =>
  answer.then(
    () => expect.fail('it answered'),
    (error: ModelError) => error,
  );

describe('languageModel', () => {
  it('bounds the output of a call when it is told to, and leaves it to the provider otherwise', async () => {
    const model = fake([text('hi'), stop]);
    const { generate } = languageModel(model, { name: 'a/b' });
    await generate(request, { signal: never, maxOutputTokens: 2_048 });
    await generate(request, { signal: never });
    expect(model.calls.map((call) => call.maxOutputTokens)).toEqual([2_048, undefined]);
    expect(model.calls[1]).not.toHaveProperty('maxOutputTokens');
  });

  it('L1 ends when it is aborted, also if the provider never listens', async () => {
    const model = fake([text('so far')], { open: true });
    const abort = new AbortController();
    const answer = languageModel(model, { name: 'a/b' }).generate(request, {
      signal: abort.signal,
      onText: () => queueMicrotask(() => abort.abort()),
    });
    expect(await failure(answer)).toMatchObject({ code: 'aborted', retry: false, partial: 'so far' });
    expect(model.cancelled).toBe(1);
  });

  it('L1 ends when whoever got the text aborts', async () => {
    const abort = new AbortController();
    const answer = languageModel(fake([text('x')], { open: true }), { name: 'a/b' }).generate(request, {
      signal: abort.signal,
      onText: () => abort.abort(),
    });
    expect(await failure(answer)).toMatchObject({ code: 'aborted', partial: 'x' });
  });

  it('L1 ends before the provider has answered, and drops what then comes', async () => {
    const late = new AbortController();
    const model = fake([text('x')], { open: true, delay: late.signal });
    const abort = new AbortController();
    const answer = languageModel(model, { name: 'a/b' }).generate(request, { signal: abort.signal });
    abort.abort();
    expect(await failure(answer)).toMatchObject({ code: 'aborted', partial: '' });
    late.abort();
    await expect.poll(() => model.cancelled).toBe(1);
  });

  it('L1 calls nobody when it is aborted from the start', async () => {
    const model = fake([stop]);
    const answer = languageModel(model, { name: 'a/b' }).generate(request, { signal: AbortSignal.abort() });
    expect(await failure(answer)).toMatchObject({ code: 'aborted' });
    expect(model.calls).toEqual([]);
  });

  it('L1 the abort is the reason, whatever the provider throws on its way out', async () => {
    const abort = new AbortController();
    const model: LanguageModelLike = {
      ...fake([]),
      async doStream() {
        abort.abort();
        throw Object.assign(new Error('Failed to process successful response'), { statusCode: 200 });
      },
    };
    const answer = languageModel(model, { name: 'a/b' }).generate(request, { signal: abort.signal });
    expect(await failure(answer)).toMatchObject({ code: 'aborted', retry: false });
  });

  it('L2 an error inside the stream ends the call; nothing after it counts', async () => {
    const shown: string[] = [];
    const model = fake([text('a'), { type: 'error', error: { type: 'overloaded_error' } }, text('b'), stop]);
    const answer = languageModel(model, { name: 'a/b' }).generate(request, {
      signal: never,
      onText: (delta) => shown.push(delta),
    });
    expect(await failure(answer)).toMatchObject({ code: 'overloaded', partial: 'a' });
    expect(shown).toEqual(['a']);
  });

  it('L3 does not wait for a server that leaves the connection open', async () => {
    const model = fake([{ type: 'stream-start', warnings: [] }, text('a'), { type: 'custom' }, stop], {
      open: true,
    });
    const reply = await languageModel(model, { name: 'a/b' }).generate(request, { signal: never });
    expect(reply).toMatchObject({ parts: [{ type: 'text', text: 'a' }], finish: 'stop' });
    expect(model.cancelled).toBe(1);
  });

  it('keeps nothing at OpenAI unless told to', async () => {
    const options = async (provider: string, providerOptions = {}) => {
      const model = fake([stop], { provider });
      await languageModel(model, { name: 'a/b', providerOptions }).generate(request, { signal: never });
      return model.calls[0]?.providerOptions;
    };
    expect(await options('openai.responses')).toEqual({ openai: { store: false } });
    expect(await options('azure.responses')).toEqual({ azure: { store: false } });
    expect(await options('anthropic.messages')).toEqual({});
    const told = { openai: { reasoningEffort: 'low' }, other: { a: 1 } };
    expect(await options('openai.responses', told)).toEqual({
      openai: { store: false, reasoningEffort: 'low' },
      other: { a: 1 },
    });
  });
});
