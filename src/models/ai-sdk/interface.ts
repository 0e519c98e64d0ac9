/**
 * The part of the AI SDK's language-model interface that the adapter uses, by structure and not by import.
 *
 * K1  Versions 3 and 4 of the interface fit alike, but for the bytes of a file, which version 4 wraps (`FileBytes`).
 * K2  A stream part of a kind that is not named here carries nothing that a `ModelReply` can hold; it is ignored. These
 *     are warnings, the response's id, raw chunks, and what belongs to tools that the provider runs itself, of which we
 *     ask for none.
 */

import type { Json } from '../../lib/json.ts';

/** Options and metadata by provider. What comes in as metadata goes out as options. */
export type ProviderOptions = { [provider: string]: { [key: string]: JsonValue | undefined } };

/** `Json` as the SDK spells it, with members that may be written. */
type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue | undefined };

export interface LanguageModelLike {
  readonly specificationVersion: 'v3' | 'v4';
  /** For example `openai.responses`. */
  readonly provider: string;
  readonly modelId: string;
  doStream(options: CallOptions): PromiseLike<{ readonly stream: ReadableStream<{ readonly type: string }> }>;
}

export interface CallOptions {
  prompt: PromptMessage[];
  tools?: FunctionTool[];
  abortSignal?: AbortSignal;
  maxOutputTokens?: number;
  providerOptions?: ProviderOptions;
}

export interface FunctionTool {
  type: 'function';
  name: string;
  description: string;
  inputSchema: { [key: string]: Json };
}

export type PromptMessage = { providerOptions?: ProviderOptions } & (
  | { role: 'system'; content: string }
  | { role: 'user'; content: (TextPart | FilePart)[] }
  | { role: 'assistant'; content: (TextPart | ReasoningPart | FilePart | CallPart)[] }
  | { role: 'tool'; content: ResultPart[] }
);

export interface TextPart {
  type: 'text';
  text: string;
  providerOptions?: ProviderOptions;
}

export interface FilePart {
  type: 'file';
  mediaType: string;
  data: FileBytes;
  providerOptions?: ProviderOptions;
}

/** Bare bytes in version 3, `{ type: 'data', data }` in version 4. No type fits both; who makes one knows the version. */
export type FileBytes = never;

export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: ProviderOptions;
}

export interface CallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: Json;
  providerOptions?: ProviderOptions;
}

export interface ResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text' | 'error-text'; value: string };
}

type Metadata = { readonly providerMetadata?: unknown };
type OfProvider = { readonly providerExecuted?: boolean };

/** The stream parts that matter (K2). */
export type StreamPart = Metadata &
  (
    | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
    | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
    | ({ readonly type: 'tool-input-start'; readonly id: string; readonly toolName: string } & OfProvider)
    | ({
        readonly type: 'tool-call';
        readonly toolCallId: string;
        readonly toolName: string;
        /** The arguments as the model wrote them: JSON text, or what was to become it. */
        readonly input: string;
      } & OfProvider)
    /** Version 4 has files of a kind of their own for what was drawn on the way. */
    | { readonly type: 'file' | 'reasoning-file'; readonly mediaType: string; readonly data: unknown }
    | {
        readonly type: 'source';
        readonly title?: string | undefined;
        readonly url?: string | undefined;
      }
    | { readonly type: 'error'; readonly error: unknown }
    | { readonly type: 'finish'; readonly finishReason: FinishReason; readonly usage: StreamUsage }
  );

export interface FinishReason {
  /** `interrupted` is version 4's word for a stream without its proper end. */
  readonly unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other' | 'interrupted';
  readonly raw: string | undefined;
}

export interface StreamUsage {
  /** `total` has what was read from the cache, and what was written to it. */
  readonly inputTokens: {
    readonly total: number | undefined;
    readonly cacheRead: number | undefined;
    readonly cacheWrite?: number | undefined;
  };
  readonly outputTokens: { readonly total: number | undefined };
}
