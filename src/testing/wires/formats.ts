/**
 * The same reply in the wire formats of five providers, for tests: what a server would send for a text, a sealed
 * thought, a call, and for each way to end.
 *
 * X1  Frames are what the provider documents, cut down to what its own client reads.
 * X2  `frames(said, 'nothing')` is a stream that stops before its end mark, cleanly.
 */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { parseJson } from '../../lib/json.ts';
import type { LanguageModelLike } from '../../models/ai-sdk/interface.ts';

export type Said =
  | { readonly text: string }
  /** `seal` is the signature or the encrypted content that must come back untouched. */
  | { readonly thought: string; readonly seal: string }
  | { readonly call: string; readonly tool: string; readonly args: string };

export type Ending = 'stop' | 'calls' | 'length' | 'refusal' | 'nothing';

export interface Wire {
  readonly name: string;
  /** Whether a thought's seal travels on this wire. */
  readonly seals: boolean;
  /** Whether it says what of a request was written to the provider's cache. */
  readonly writes: boolean;
  open(url: string, apiKey: string): LanguageModelLike;
  frames(said: readonly Said[], ending: Ending): string[];
  /** An error event inside a stream. */
  readonly overload: string;
  /** The body of an error response. */
  error(type: string, message: string): string;
}

const USAGE = { input: 11, cached: 4, written: 2, output: 7 };

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`;
const of = <T extends object>(type: string, rest: T): T & { type: string } => ({ type, ...rest });
const typed = (type: string, message: string): string =>
  JSON.stringify({ error: { type, code: type, message } });

/** Two deltas of a text, so that a stream is more than one piece. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}

const responses: Wire = {
  name: 'OpenAI Responses',
  seals: true,
  writes: false,
  open: (url, apiKey) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses('gpt-5.5'),
  error: typed,
  overload: event(
    of('error', {
      sequence_number: 9,
      error: { type: 'server_error', code: 'overloaded', message: 'busy', param: null },
    }),
  ),
  frames(said, ending) {
    const created = { id: 'resp_1', created_at: 1, model: 'gpt-5.5', service_tier: null };
    const body = said.flatMap((part, at) => responseItem(part, at));
    if (ending === 'nothing') return [event(of('response.created', { response: created })), ...body];
    const refusal = { item_id: 'msg_r', output_index: said.length, content_index: 0 };
    const usage = {
      input_tokens: USAGE.input,
      input_tokens_details: { cached_tokens: USAGE.cached },
      output_tokens: USAGE.output,
    };
    const reason = ending === 'length' ? { reason: 'max_output_tokens' } : null;
    return [
      event(of('response.created', { response: created })),
      ...body,
      ...(ending === 'refusal' ? [event(of('response.refusal.done', { ...refusal, refusal: '' }))] : []),
      event(
        of(reason === null ? 'response.completed' : 'response.incomplete', {
          response: { ...created, incomplete_details: reason, usage },
        }),
      ),
    ];
  },
};

function responseItem(part: Said, at: number): string[] {
  const opened = (item: object) => event(of('response.output_item.added', { output_index: at, item }));
  const done = (item: object) => event(of('response.output_item.done', { output_index: at, item }));
  if ('text' in part) {
    const item = { type: 'message', id: `msg_${at}` };
    const deltas = halves(part.text).map((delta) =>
      event(
        of('response.output_text.delta', { item_id: item.id, delta, output_index: at, content_index: 0 }),
      ),
    );
    return [opened(item), ...deltas, done(item)];
  }
  if ('thought' in part) {
    const item = { type: 'reasoning', id: `rs_${at}`, summary: [] };
    const piece = { item_id: item.id, summary_index: 0 };
    return [
      opened({ ...item, encrypted_content: 'not yet' }),
      event(of('response.reasoning_summary_part.added', piece)),
      ...halves(part.thought).map((delta) =>
        event(of('response.reasoning_summary_text.delta', { ...piece, delta })),
      ),
      event(of('response.reasoning_summary_part.done', piece)),
      done({ ...item, encrypted_content: part.seal }),
    ];
  }
  const item = { type: 'function_call', id: `fc_${at}`, call_id: part.call, name: part.tool };
  return [
    opened({ ...item, arguments: '' }),
    ...halves(part.args).map((delta) =>
      event(of('response.function_call_arguments.delta', { item_id: item.id, output_index: at, delta })),
    ),
    done({ ...item, arguments: part.args, status: 'completed' }),
  ];
}

const chat: Wire = {
  name: 'OpenAI Chat',
  seals: false,
  writes: false,
  open: (url, apiKey) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat('gpt-4.1'),
  error: typed,
  overload: data({ error: { type: 'server_error', code: 'overloaded', message: 'busy' } }),
  frames(said, ending) {
    const calls = said.filter((part) => 'call' in part);
    const body = said.flatMap((part) => chatDeltas(part, calls).map((delta) => data(chunk(delta, null))));
    if (ending === 'nothing') return body;
    const reason = { stop: 'stop', calls: 'tool_calls', length: 'length', refusal: 'content_filter' }[ending];
    const usage = {
      prompt_tokens: USAGE.input,
      prompt_tokens_details: { cached_tokens: USAGE.cached },
      completion_tokens: USAGE.output,
    };
    return [
      ...body,
      data(chunk({}, reason)),
      data({ ...chunk({}, null), choices: [], usage }),
      'data: [DONE]\n\n',
    ];
  },
};

const chunk = (delta: object, reason: string | null): object => ({
  id: 'chat_1',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: reason }],
});

function chatDeltas(part: Said, calls: readonly Said[]): object[] {
  if ('text' in part) return halves(part.text).map((content) => ({ content }));
  if ('thought' in part) return halves(part.thought).map((reasoning_content) => ({ reasoning_content }));
  const index = calls.indexOf(part);
  const head = { index, id: part.call, type: 'function', function: { name: part.tool, arguments: '' } };
  const rest = halves(part.args).map((args) => ({ index, function: { arguments: args } }));
  return [head, ...rest].map((call) => ({ tool_calls: [call] }));
}

const compatible: Wire = {
  ...chat,
  name: 'OpenAI-compatible',
  open: (url, apiKey) =>
    createOpenAICompatible({ name: 'compatible', baseURL: `${url}/v1`, apiKey, includeUsage: true })('m'),
};

const anthropic: Wire = {
  name: 'Anthropic Messages',
  seals: true,
  writes: true,
  open: (url, apiKey) => createAnthropic({ apiKey, baseURL: `${url}/v1` })('claude-sonnet-5'),
  error: (type, message) => JSON.stringify({ type: 'error', error: { type, message } }),
  overload: event(of('error', { error: { type: 'overloaded_error', message: 'busy' } })),
  frames(said, ending) {
    const usage = {
      input_tokens: USAGE.input - USAGE.cached - USAGE.written,
      cache_read_input_tokens: USAGE.cached,
      cache_creation_input_tokens: USAGE.written,
    };
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      model: 'claude-sonnet-5',
      content: [],
    };
    const start = of('message_start', { message: { ...message, usage: { ...usage, output_tokens: 0 } } });
    const body = [event(start), ...said.flatMap((part, index) => anthropicBlock(part, index))];
    if (ending === 'nothing') return body;
    const reason = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' }[ending];
    const delta = { stop_reason: reason, stop_sequence: null };
    const end = of('message_delta', { delta, usage: { output_tokens: USAGE.output } });
    return [...body, event(end), event({ type: 'message_stop' })];
  },
};

function anthropicBlock(part: Said, index: number): string[] {
  const block = (content_block: object, deltas: readonly object[]): string[] => [
    event(of('content_block_start', { index, content_block })),
    ...deltas.map((delta) => event(of('content_block_delta', { index, delta }))),
    event(of('content_block_stop', { index })),
  ];
  if ('text' in part) {
    const deltas = halves(part.text).map((text) => of('text_delta', { text }));
    return block({ type: 'text', text: '' }, deltas);
  }
  if ('thought' in part) {
    const deltas = halves(part.thought).map((thinking) => of('thinking_delta', { thinking }));
    const seal = of('signature_delta', { signature: part.seal });
    return block({ type: 'thinking', thinking: '', signature: '' }, [...deltas, seal]);
  }
  const deltas = halves(part.args).map((partial_json) => of('input_json_delta', { partial_json }));
  return block({ type: 'tool_use', id: part.call, name: part.tool, input: {} }, deltas);
}

const google: Wire = {
  name: 'Google Gemini',
  seals: true,
  writes: false,
  open: (url, apiKey) => createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })('gemini-3.5-flash'),
  error: (status, message) => JSON.stringify({ error: { code: 0, status, message } }),
  overload: data({ error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } }),
  frames(said, ending) {
    const body = said
      .flatMap(googleParts)
      .map((part) => data({ candidates: [{ content: { parts: [part] } }] }));
    if (ending === 'nothing') return body;
    const reason = { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', refusal: 'PROHIBITED_CONTENT' }[
      ending
    ];
    const usageMetadata = {
      promptTokenCount: USAGE.input,
      cachedContentTokenCount: USAGE.cached,
      candidatesTokenCount: USAGE.output,
    };
    return [...body, data({ candidates: [{ finishReason: reason }], usageMetadata })];
  },
};

function googleParts(part: Said): object[] {
  if ('text' in part) return halves(part.text).map((text) => ({ text }));
  if ('thought' in part) {
    const [first = '', second] = halves(part.thought);
    const open = { text: first, thought: true };
    return second === undefined
      ? [{ ...open, thoughtSignature: part.seal }]
      : [open, { text: second, thought: true, thoughtSignature: part.seal }];
  }
  // Arguments go as an object; what is cut can only be text.
  return [{ functionCall: { id: part.call, name: part.tool, args: parseJson(part.args) ?? part.args } }];
}

export const wires: readonly Wire[] = [responses, chat, compatible, anthropic, google];
