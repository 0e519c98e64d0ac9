/**
 * A provider's language model (AI SDK interface) as a `Model`: one call, one reply. Providers, the testing kit and
 * programs that bring their own SDK model use it; retries, time limits and the transcript are the runtime's.
 *
 * L1  Once `signal` aborts, the call ends, whether or not the provider listens. Then the reason is the abort, whatever
 *     the provider threw on its way out.
 * L2  An error inside a stream ends the call at once; the rest of that stream is not read.
 * L3  The end mark ends the reply; a server that leaves the connection open is not waited for.
 */

import type { ModelRequest } from '../../core/message.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type GenerateOptions, type Model, ModelError, type ModelReply } from '../port.ts';
import type { CallOptions, LanguageModelLike, ProviderOptions, StreamPart } from './interface.ts';
import { type Dialect, toCall } from './prompt.ts';
import { toModelError } from './provider-error.ts';
import { newDraft, take, toReply } from './reply.ts';

export interface LanguageModelSettings {
  /** `provider/model`, as shown to people and stored with each reply. */
  readonly name: string;
  /** Options for the provider, on top of ours: `{ anthropic: { thinking: … } }`. */
  readonly providerOptions?: ProviderOptions;
  /** Keys that must not appear in an error's text. */
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
}

/**
 * Turns a model of the AI SDK, version 3 or 4 of its interface, into a `Model`.
 *
 * @example
 * ```ts
 * const model = languageModel(createOpenAI()('gpt-5.5'), { name: 'openai/gpt-5.5' });
 * ```
 */
export function languageModel(model: LanguageModelLike, settings: LanguageModelSettings): Model {
  return {
    name: settings.name,
    scripted: false,
    generate: (request, options) => generate(model, settings, request, options),
  };
}

async function generate(
  model: LanguageModelLike,
  settings: LanguageModelSettings,
  request: ModelRequest,
  { signal, onText, maxOutputTokens }: GenerateOptions,
): Promise<ModelReply> {
  const { name, secrets = [], clock = systemClock } = settings;
  const draft = newDraft();
  const bound = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  let streaming = false;
  try {
    for await (const part of stream(model, { ...callOptions(model, settings, request), ...bound }, signal)) {
      streaming = true;
      if (part.type === 'error') throw part.error;
      take(draft, part);
      if (part.type === 'text-delta') onText?.(part.delta);
    }
  } catch (error) {
    const partial = draft.text;
    if (signal.aborted) throw new ModelError('aborted', `${name} was interrupted`, { retry: false, partial });
    throw toModelError(error, { name, partial, streaming, secrets, now: clock.now() });
  }
  const reply = toReply(draft);
  if ('incomplete' in reply) {
    const text = `${name} did not end its reply properly: ${reply.incomplete}`;
    throw new ModelError('incomplete', text, { retry: true, partial: draft.text });
  }
  return reply;
}

function callOptions(
  model: LanguageModelLike,
  { providerOptions = {} }: LanguageModelSettings,
  request: ModelRequest,
): CallOptions {
  const ours = defaults(model.provider);
  const merged = { ...ours, ...providerOptions };
  for (const [provider, options] of Object.entries(ours))
    merged[provider] = { ...options, ...merged[provider] };
  return { ...toCall(request, dialectOf(model)), providerOptions: merged };
}

/** Of the providers only Google's takes back what its model drew; the others' clients drop such a part or fail at it. */
const dialectOf = ({ provider, specificationVersion }: LanguageModelLike): Dialect => ({
  takesModelFiles: provider.startsWith('google'),
  tagsBytes: specificationVersion === 'v4',
});

/**
 * A session outlives what a provider keeps, so OpenAI's items are not stored there. For models that reason, the SDK
 * then asks for their reasoning, encrypted; asking it of one that does not reason would be refused.
 */
function defaults(provider: string): ProviderOptions {
  return provider.endsWith('.responses')
    ? { [provider.startsWith('azure') ? 'azure' : 'openai']: { store: false } }
    : {};
}

/** The parts up to the end mark (L3), ended early by `signal` (L1). */
async function* stream(
  model: LanguageModelLike,
  options: CallOptions,
  signal: AbortSignal,
): AsyncGenerator<StreamPart, void, void> {
  signal.throwIfAborted();
  const opening = model.doStream({ ...options, abortSignal: signal });
  const reader = (
    await orAborted(opening, signal, ({ stream }) => void stream.cancel().catch(ignore))
  ).stream.getReader();
  try {
    while (true) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return;
      // Kinds that are not in the union fall through every switch (K2).
      yield value as StreamPart;
      if (value.type === 'finish') return;
    }
  } finally {
    void reader.cancel().catch(ignore);
  }
}

/** Settles like `promise`, or rejects as soon as `signal` aborts; what then still arrives goes to `late`. */
async function orAborted<T>(
  promise: PromiseLike<T>,
  signal: AbortSignal,
  late: (value: T) => void = ignore,
): Promise<T> {
  let stop = ignore;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      promise.then(late, ignore);
      reject(signal.reason);
    };
    // No event comes for an abort that is past, say by whoever got the last text.
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function ignore(): void {}
