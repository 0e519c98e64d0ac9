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
 * P7  Images stand behind the words that they came with. A file that a model made goes back to a provider that takes
 *     files from models, byte for byte; to another one it is named in words. Sources go back to none.
 */

import { nameOf } from '../../core/file.ts';
import type {
  ModelRequest,
  RequestMessage,
  RequestPart,
  ResultStatus,
  ToolSpec,
} from '../../core/message.ts';
import { isRecord } from '../../lib/json.ts';
import { wellFormed, wellFormedJson } from '../../lib/well-formed.ts';
import type {
  CallOptions,
  CallPart,
  FileBytes,
  FilePart,
  FunctionTool,
  PromptMessage,
  ProviderOptions,
  ReasoningPart,
  TextPart,
} from './interface.ts';

/** In what the models of the SDK differ, where files are concerned. */
export interface Dialect {
  readonly takesModelFiles: boolean;
  readonly tagsBytes: boolean;
}

const PLAIN: Dialect = { takesModelFiles: false, tagsBytes: false };

/** The part of the call that is made from the request alone. */
export function toCall(request: ModelRequest, dialect = PLAIN): Pick<CallOptions, 'prompt' | 'tools'> {
  const prompt = toPrompt(request, dialect);
  return request.tools.length === 0 ? { prompt } : { prompt, tools: request.tools.map(toTool) };
}

function toPrompt(request: ModelRequest, dialect: Dialect): PromptMessage[] {
  const { system, messages, stable = messages.length } = request;
  const rules: PromptMessage[] = isBlank(system) ? [] : [{ role: 'system', content: wellFormed(system) }];
  const made = (some: readonly RequestMessage[]) =>
    some.flatMap((message) => toMessage(message, dialect) ?? []);
  return [
    ...withCachePoints([...rules, ...made(messages.slice(0, stable))]),
    ...made(messages.slice(stable)),
  ];
}

function toMessage(message: RequestMessage, dialect: Dialect): PromptMessage | undefined {
  switch (message.role) {
    case 'user': {
      const text = isBlank(message.text) ? [] : [{ type: 'text' as const, text: wellFormed(message.text) }];
      const images = (message.images ?? []).map(({ mediaType, data }) => toFile(mediaType, data, dialect));
      const content = [...text, ...images];
      return content.length === 0 ? undefined : { role: 'user', content };
    }
    case 'assistant': {
      const content = withoutLastReasoning(message.parts.flatMap((part) => toPart(part, dialect) ?? []));
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

type AssistantPart = TextPart | ReasoningPart | FilePart | CallPart;

function toPart(part: RequestPart, dialect: Dialect): AssistantPart | undefined {
  const meta = part.meta === undefined ? {} : { providerOptions: part.meta as ProviderOptions };
  switch (part.type) {
    case 'text':
      return isBlank(part.text) ? undefined : { type: 'text', text: wellFormed(part.text), ...meta };
    case 'reasoning':
      // Empty text with a seal is how providers hide their reasoning; it must go back like any other.
      return (part.text === '' && part.meta === undefined) || part.text !== wellFormed(part.text)
        ? undefined
        : { type: 'reasoning', text: part.text, ...meta };
    case 'file': {
      const { mediaType, data } = part;
      if (dialect.takesModelFiles) return { ...toFile(mediaType, data, dialect), ...meta };
      return { type: 'text', text: `[${nameOf({ mediaType, bytes: data.length })}: you made it]` };
    }
    case 'source':
      return undefined;
    case 'tool-call': {
      const input = part.broken === undefined && isRecord(part.input) ? wellFormedJson(part.input) : {};
      return { type: 'tool-call', toolCallId: part.call, toolName: toolName(part.tool), input, ...meta };
    }
  }
}

function toFile(mediaType: string, bytes: Uint8Array, { tagsBytes }: Dialect): FilePart {
  const data = tagsBytes ? { type: 'data', data: bytes } : bytes;
  return { type: 'file', mediaType, data: data as FileBytes };
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
 * step will find again: what comes behind it, the present, is another one by then. Other providers cache by themselves
 * and ignore the mark.
 */
function withCachePoints(prompt: readonly PromptMessage[]): PromptMessage[] {
  const mark = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };
  return prompt.map((message, index) =>
    message.role === 'system' || index === prompt.length - 1 ? { ...message, ...mark } : message,
  );
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
