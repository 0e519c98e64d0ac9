/**
 * From the environment to a `Model`: which one, and how to reach it. The command line and the server call it at start.
 *
 * V1  Nothing but `env` is read: neither the process's environment nor a file. The SDK's own defaults are never used.
 * V2  What is wrong with the settings is said at once; the provider's package is loaded at the first call, so that
 *     commands that call no model do not wait for it.
 * V3  No key and no wish means no model, said by `null`; a wish that cannot be met is an error, never a stand-in.
 */

import { OutlastError } from '../../core/error.ts';
import type { Model } from '../port.ts';
import type { LanguageModelLike } from './interface.ts';
import { languageModel } from './language-model.ts';

export type Env = { readonly [name: string]: string | undefined };

export interface ModelChoice {
  /** `provider/model`, as `providerModel` takes it. */
  readonly spec: string;
  /** Why this one, in words for the screen. */
  readonly reason: string;
}

interface Provider {
  readonly key: string;
  /** What a key alone chooses. */
  readonly model: string;
  readonly url: (env: Env) => string;
  readonly open: (settings: { apiKey: string; baseURL: string }, model: string) => Promise<LanguageModelLike>;
}

const OPENAI = {
  key: 'OPENAI_API_KEY',
  model: 'gpt-5.5',
  url: (env: Env) => setting(env, 'OPENAI_BASE_URL') ?? 'https://api.openai.com/v1',
};

/** In the order in which keys are looked for. */
const PROVIDERS: { readonly [name: string]: Provider } = {
  openai: {
    ...OPENAI,
    open: async (settings, model) => (await import('@ai-sdk/openai')).createOpenAI(settings).responses(model),
  },
  // The same models and the same key over the older API, for proxies and accounts that have no other.
  'openai-chat': {
    ...OPENAI,
    open: async (settings, model) => (await import('@ai-sdk/openai')).createOpenAI(settings).chat(model),
  },
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    model: 'claude-sonnet-5',
    // Anthropic's own tools write this address without the version, the SDK wants it with.
    url: (env) => `${trimmed(setting(env, 'ANTHROPIC_BASE_URL') ?? 'https://api.anthropic.com')}/v1`,
    open: async (settings, model) => (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model),
  },
  google: {
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    model: 'gemini-3.5-flash',
    url: (env) =>
      setting(env, 'GOOGLE_GENERATIVE_AI_BASE_URL') ?? 'https://generativelanguage.googleapis.com/v1beta',
    open: async (settings, model) =>
      (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model),
  },
};

/**
 * Which model the environment asks for; null when it asks for none (then a scripted planner can stand in).
 *
 * `OUTLAST_MODEL` wins (`scripted` asks for none), then `OUTLAST_BASE_URL`, then the first key that is set.
 */
export function chooseModel(env: Env): ModelChoice | null {
  const wish = setting(env, 'OUTLAST_MODEL');
  if (wish === 'scripted') return null;
  if (wish !== undefined) return { spec: specOf(wish, env), reason: 'OUTLAST_MODEL asks for it' };
  if (setting(env, 'OUTLAST_BASE_URL') !== undefined) {
    throw unknown(
      'OUTLAST_BASE_URL names a server, but no model.',
      'set OUTLAST_MODEL to a model of that server',
    );
  }
  const found = Object.entries(PROVIDERS).find(([, { key }]) => setting(env, key) !== undefined);
  if (found === undefined) return null;
  const [name, { key, model }] = found;
  return { spec: `${name}/${model}`, reason: `${key} is set` };
}

/**
 * The model that a spec names: `openai/…` (responses), `openai-chat/…` (chat completions), `anthropic/…`, `google/…`, or
 * `compatible/…` for a model of the server at `OUTLAST_BASE_URL`. Throws `model.unknown` when the provider is unknown, or its key or address is missing.
 *
 * @example
 * ```ts
 * const model = providerModel('anthropic/claude-sonnet-5', process.env);
 * ```
 */
export function providerModel(spec: string, env: Env): Model {
  const slash = spec.indexOf('/');
  const [name, model] = [spec.slice(0, slash), spec.slice(slash + 1)];
  if (slash < 1 || model === '') {
    throw unknown(`"${spec}" is not of the form provider/model.`, 'write for example openai/gpt-5.5');
  }
  if (name === 'compatible') return compatible(model, env);
  const provider = providerOf(name);
  if (provider === undefined) {
    const known = [...Object.keys(PROVIDERS), 'compatible'].join(', ');
    throw unknown(
      `There is no provider "${name}".`,
      `use one of ${known}; compatible needs OUTLAST_BASE_URL`,
    );
  }
  const apiKey = setting(env, provider.key);
  if (apiKey === undefined) {
    throw unknown(`There is no key for ${name}.`, `set ${provider.key}, or another model in OUTLAST_MODEL`);
  }
  const settings = { apiKey, baseURL: provider.url(env) };
  return lazily(spec, [apiKey], () => provider.open(settings, model));
}

/** Ollama, vLLM, llama.cpp, LM Studio and every other server that speaks OpenAI's chat completions. */
function compatible(model: string, env: Env): Model {
  const baseURL = setting(env, 'OUTLAST_BASE_URL') ?? '';
  if (!/^https?:\/\/[^/]/.test(baseURL) || !URL.canParse(baseURL)) {
    const next = 'set OUTLAST_BASE_URL, for example to http://127.0.0.1:11434/v1';
    throw unknown(
      baseURL === '' ? 'OUTLAST_BASE_URL is not set.' : 'OUTLAST_BASE_URL is not an http address.',
      next,
    );
  }
  const apiKey = setting(env, 'OUTLAST_API_KEY');
  const key = apiKey === undefined ? {} : { apiKey };
  return lazily(`compatible/${model}`, apiKey === undefined ? [] : [apiKey], async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ name: 'compatible', baseURL, includeUsage: true, ...key })(model);
  });
}

function lazily(name: string, secrets: readonly string[], open: () => Promise<LanguageModelLike>): Model {
  let opened: Promise<Model> | undefined;
  return {
    name,
    scripted: false,
    async generate(request, options) {
      opened ??= open().then((model) => languageModel(model, { name, secrets }));
      return (await opened).generate(request, options);
    },
  };
}

/**
 * With a server of your own, every name is that server's, also `qwen/qwen3` and `openai/gpt-oss-20b`, unless it names
 * a provider whose key is there too.
 */
function specOf(wish: string, env: Env): string {
  if (setting(env, 'OUTLAST_BASE_URL') === undefined || wish.startsWith('compatible/')) return wish;
  const provider = providerOf(wish.split('/')[0] ?? '');
  const isReachable = provider !== undefined && setting(env, provider.key) !== undefined;
  return isReachable ? wish : `compatible/${wish}`;
}

function providerOf(name: string): Provider | undefined {
  return Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
}

/** A setting without the line end that a file or a shell left on it; an empty one is not set. */
function setting(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function unknown(message: string, next: string): OutlastError {
  return new OutlastError('model.unknown', message, { next });
}
