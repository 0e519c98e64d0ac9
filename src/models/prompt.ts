/**
 * ModelRequest -> the prompt of a language model. Pure.
 *
 * The transcript holds what happened; a provider takes less: it refuses the whole request, now and for ever, for one
 * empty block, one half of a surrogate pair or one changed signature. What stays true of every prompt made here:
 *
 * P1  No message and no block is empty. What has nothing to say is left out, a result with no text says so.
 * P2  `meta` goes back exactly as it came. A reasoning block goes back whole and unchanged, or not at all.
 * P3  Reasoning that nothing follows is left out: providers refuse a turn that ends in it.
 * P4  A call and its result carry our own id. A provider's call ids are never used.
 * P5  Text is well-formed Unicode, and arguments are a JSON object.
 * P6  Names of tools fit every provider's rule, also those that a model made up.
 */

import type { ModelRequest, Part, RequestMessage, ResultStatus, ToolSpec } from '../core/message.ts';
import { isRecord, type Json } from '../lib/json.ts';
import type {
  CallOptions,
  CallPart,
  FunctionTool,
  PromptMessage,
  ProviderOptions,
  ReasoningPart,
  TextPart,
} from './ai-sdk.ts';

/** The part of the call that is made from the request alone. */
export function toCall(request: ModelRequest): Pick<CallOptions, 'prompt' | 'tools'> {
  const prompt = toPrompt(request);
  return request.tools.length === 0 ? { prompt } : { prompt, tools: request.tools.map(toTool) };
}

function toPrompt({ system, messages }: ModelRequest): PromptMessage[] {
  const rules: PromptMessage[] = isBlank(system) ? [] : [{ role: 'system', content: wellFormed(system) }];
  return withCachePoints([...rules, ...messages.flatMap((message) => toMessage(message) ?? [])]);
}

function toMessage(message: RequestMessage): PromptMessage | undefined {
  switch (message.role) {
    case 'user':
      return isBlank(message.text)
        ? undefined
        : { role: 'user', content: [{ type: 'text', text: wellFormed(message.text) }] };
    case 'assistant': {
      const content = withoutLastReasoning(message.parts.flatMap((part) => toPart(part) ?? []));
      return content.length === 0 ? undefined : { role: 'assistant', content };
    }
    case 'tool': {
      const content = message.results.map(({ call, tool, status, text }) => ({
        type: 'tool-result' as const,
        toolCallId: call,
        toolName: toolName(tool),
        output: {
          type: outputOf(status),
          value: isBlank(text) ? '(no output)' : wellFormed(text),
        },
      }));
      return content.length === 0 ? undefined : { role: 'tool', content };
    }
  }
}

type AssistantPart = TextPart | ReasoningPart | CallPart;

function toPart(part: Part): AssistantPart | undefined {
  const meta = part.meta === undefined ? {} : { providerOptions: part.meta as ProviderOptions };
  switch (part.type) {
    case 'text':
      return isBlank(part.text) ? undefined : { type: 'text', text: wellFormed(part.text), ...meta };
    case 'reasoning':
      // Empty text with a seal is how providers hide their reasoning; it must go back like any other.
      return (part.text === '' && part.meta === undefined) || LONE_SURROGATE.test(part.text)
        ? undefined
        : { type: 'reasoning', text: part.text, ...meta };
    case 'tool-call': {
      const input = part.broken === undefined && isRecord(part.input) ? wellFormedJson(part.input) : {};
      return { type: 'tool-call', toolCallId: part.call, toolName: toolName(part.tool), input, ...meta };
    }
  }
}

function withoutLastReasoning(parts: readonly AssistantPart[]): AssistantPart[] {
  return parts.slice(0, parts.findLastIndex((part) => part.type !== 'reasoning') + 1);
}

/** `unknown` is no error: the call may well have worked, and an error invites the model to do it again. */
function outputOf(status: ResultStatus): 'text' | 'error-text' {
  return status === 'failed' || status === 'refused' ? 'error-text' : 'text';
}

function toTool({ name, description, input }: ToolSpec): FunctionTool {
  return {
    type: 'function',
    name: toolName(name),
    description: wellFormed(description),
    inputSchema: input as FunctionTool['inputSchema'],
  };
}

function toolName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

/**
 * Anthropic caches only up to marked points: one after tools and rules, one after what was said so far, which the next
 * step will find again. Other providers cache by themselves and ignore the mark.
 */
function withCachePoints(prompt: readonly PromptMessage[]): PromptMessage[] {
  const mark = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };
  return prompt.map((message, index) =>
    message.role === 'system' || index === prompt.length - 1 ? { ...message, ...mark } : message,
  );
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Halves of surrogate pairs become U+FFFD; with the `u` flag a whole pair is one character and never matches. */
function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\uFFFD');
}

function wellFormedJson(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(wellFormedJson);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [wellFormed(key), wellFormedJson(member)]),
  );
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
