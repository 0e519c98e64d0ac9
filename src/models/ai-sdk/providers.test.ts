import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutlastError } from '../../core/error.ts';
import { wires } from '../../testing/wires/formats.ts';
import { startWireServer, type WireServer } from '../../testing/wires/server.ts';
import { chooseModel, type Env, providerModel } from './providers.ts';

const request = { system: '', tools: [], messages: [{ role: 'user', text: 'go' }] } as const;
const signal = new AbortController().signal;

function complaint(run: () => unknown): OutlastError {
  try {
    run();
  } catch (error) {
    if (error instanceof OutlastError) return error;
    throw error;
  }
  return expect.fail('it did not complain');
}

describe('chooseModel', () => {
  const url = { OUTLAST_BASE_URL: 'http://127.0.0.1:1/v1' };

  it.each<[string, Env, string | null]>([
    ['nothing is set', {}, null],
    ['what is set is empty', { OPENAI_API_KEY: ' ', OUTLAST_MODEL: '' }, null],
    ['one key', { ANTHROPIC_API_KEY: 'k' }, 'anthropic/claude-sonnet-5'],
    ['two keys', { GOOGLE_GENERATIVE_AI_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'openai/gpt-5.5'],
    ['Google', { GOOGLE_GENERATIVE_AI_API_KEY: 'k' }, 'google/gemini-3.5-flash'],
    ['a wish', { OPENAI_API_KEY: 'k', OUTLAST_MODEL: 'anthropic/x' }, 'anthropic/x'],
    ['the other API', { OPENAI_API_KEY: 'k', OUTLAST_MODEL: 'openai-chat/gpt-4.1' }, 'openai-chat/gpt-4.1'],
    ['the wish for none', { OPENAI_API_KEY: 'k', OUTLAST_MODEL: 'scripted' }, null],
    ['a server', { ...url, OPENAI_API_KEY: 'k', OUTLAST_MODEL: 'llama3.2' }, 'compatible/llama3.2'],
    ['a server, its full name', { ...url, OUTLAST_MODEL: 'compatible/qwen/qwen3' }, 'compatible/qwen/qwen3'],
    ['a server whose names have a slash', { ...url, OUTLAST_MODEL: 'qwen/qwen3' }, 'compatible/qwen/qwen3'],
    ['names of others', { ...url, OUTLAST_MODEL: 'openai/gpt-oss-20b' }, 'compatible/openai/gpt-oss-20b'],
    [
      'a server and a key',
      { ...url, OPENAI_API_KEY: 'k', OUTLAST_MODEL: 'openai/gpt-5.5' },
      'openai/gpt-5.5',
    ],
  ])('%s', (_, env, spec) => {
    expect(chooseModel(env)?.spec ?? null).toBe(spec);
  });

  it('says why', () => {
    expect(chooseModel({ OPENAI_API_KEY: 'k' })?.reason).toBe('OPENAI_API_KEY is set');
    expect(chooseModel({ OUTLAST_MODEL: 'openai/x' })?.reason).toContain('OUTLAST_MODEL');
  });

  it('V3 a server without a model is an error', () => {
    expect(complaint(() => chooseModel(url))).toMatchObject({
      code: 'model.unknown',
      next: expect.stringContaining('set OUTLAST_MODEL'),
    });
  });
});

describe('providerModel', () => {
  it.each<[string, Env, string]>([
    ['openai/gpt-5.5', {}, 'set OPENAI_API_KEY'],
    ['openai-chat/gpt-4.1', {}, 'set OPENAI_API_KEY'],
    ['anthropic/x', { ANTHROPIC_API_KEY: '  ' }, 'set ANTHROPIC_API_KEY'],
    ['google/x', {}, 'set GOOGLE_GENERATIVE_AI_API_KEY'],
    ['compatible/x', {}, 'set OUTLAST_BASE_URL'],
    ['compatible/x', { OUTLAST_BASE_URL: 'localhost:11434' }, 'set OUTLAST_BASE_URL'],
    ['mistral/x', {}, 'use one of openai, openai-chat, anthropic, google, compatible'],
    ['constructor/x', {}, 'use one of openai'],
    ['gpt-5.5', {}, 'write for example openai/gpt-5.5'],
    ['openai/', { OPENAI_API_KEY: 'k' }, 'write for example openai/gpt-5.5'],
  ])('V2 %s with %j: %s', (spec, env, next) => {
    const error = complaint(() => providerModel(spec, env));
    expect(error).toMatchObject({ code: 'model.unknown', next: expect.stringContaining(next) });
  });
});

describe('providerModel, over the wire', () => {
  let server: WireServer;
  beforeEach(async () => {
    server = await startWireServer();
  });
  afterEach(() => server.close());

  const cases: [string, string, string, (url: string) => Env][] = [
    [
      'openai/gpt-5.5',
      'OpenAI Responses',
      '/v1/responses',
      (url) => ({ OPENAI_API_KEY: 'the-key\n', OPENAI_BASE_URL: `${url}/v1` }),
    ],
    [
      'openai-chat/gpt-4.1',
      'OpenAI Chat',
      '/v1/chat/completions',
      (url) => ({ OPENAI_API_KEY: 'the-key', OPENAI_BASE_URL: `${url}/v1` }),
    ],
    [
      'anthropic/claude-sonnet-5',
      'Anthropic Messages',
      '/v1/messages',
      (url) => ({ ANTHROPIC_API_KEY: 'the-key', ANTHROPIC_BASE_URL: `${url}/` }),
    ],
    [
      'google/gemini-3.5-flash',
      'Google Gemini',
      '/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
      (url) => ({ GOOGLE_GENERATIVE_AI_API_KEY: 'the-key', GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta` }),
    ],
    [
      'compatible/qwen/qwen3',
      'OpenAI-compatible',
      '/v1/chat/completions',
      (url) => ({ OUTLAST_BASE_URL: `${url}/v1`, OUTLAST_API_KEY: 'the-key' }),
    ],
  ];

  it.each(cases)('%s', async (spec, wireName, path, env) => {
    const wire = wires.find(({ name }) => name === wireName);
    server.answer(
      { chunks: wire?.frames([{ text: 'ok' }], 'stop') ?? [] },
      { status: 400, chunks: [wire?.error('invalid_request_error', 'you sent the-key') ?? ''] },
    );
    const model = providerModel(spec, env(server.url));
    expect(model).toMatchObject({ name: spec, scripted: false });
    expect(await model.generate(request, { signal })).toMatchObject({
      parts: [{ text: 'ok' }],
      finish: 'stop',
    });
    expect(server.requests[0]?.path).toBe(path);
    const {
      authorization,
      'x-api-key': anthropic,
      'x-goog-api-key': google,
    } = server.requests[0]?.headers ?? {};
    expect(
      [authorization, anthropic, google].filter(Boolean).map((key) => `${key}`.split(' ').at(-1)),
    ).toEqual(['the-key']);
    await expect(model.generate(request, { signal })).rejects.toThrow('you sent [key]');
  });

  it('compatible without a key sends none, and names the model as the server does', async () => {
    const frames =
      wires.find(({ name }) => name === 'OpenAI-compatible')?.frames([{ text: 'ok' }], 'stop') ?? [];
    server.answer({ chunks: frames });
    await providerModel('compatible/qwen/qwen3', { OUTLAST_BASE_URL: `${server.url}/v1/` }).generate(
      request,
      {
        signal,
      },
    );
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(server.requests[0]?.text ?? '')).toMatchObject({ model: 'qwen/qwen3', stream: true });
  });
});
