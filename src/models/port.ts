/**
 * The port to language models: one call, one reply. The loop, retries and the transcript are the runtime's.
 *
 * M1  A model gets a `ModelRequest` and nothing else.
 * M2  A reply that did not come to its proper end is an error (`incomplete`), never a reply.
 * M3  When `signal` aborts, `generate` rejects soon with `ModelError` of code `aborted` and the text so far.
 */

import type { Cost } from '../core/budget/budget.ts';
import type { Finish, ModelRequest, RequestPart, ToolCallPart, Usage } from '../core/message.ts';

/**
 * A part as a provider sends it; the runtime mints the ids of the calls. `broken` is set when the arguments were cut or
 * are no JSON object; then `input` is `{}`.
 */
export type ReplyPart = Exclude<RequestPart, ToolCallPart> | Omit<ToolCallPart, 'call'>;

export interface ModelReply {
  /** In the order in which the parts began. */
  readonly parts: readonly ReplyPart[];
  readonly finish: Finish;
  readonly usage: Usage;
}

export interface Model {
  /** `provider/model`, as shown to people and stored with each reply. */
  readonly name: string;
  /** True for the stand-in that is no model; screens say so. */
  readonly scripted: boolean;
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelReply>;
}

export interface GenerateOptions {
  readonly signal: AbortSignal;
  /** Text as it is written, for people who watch. Not durable. */
  readonly onText?: (delta: string) => void;
  /** The most that the reply may have; then it ends with `length`. Only given when a budget asks for it. */
  readonly maxOutputTokens?: number;
}

/** What calls cost. */
export interface Prices {
  /** For `provider/model`; null when no price is known, which does not mean that it is free. */
  price(model: string, usage: Usage): Promise<Cost | null>;
}

export type ModelErrorCode =
  | 'aborted'
  | 'incomplete' // the stream ended without its proper end
  | 'overloaded'
  | 'rate_limited'
  | 'unreachable'
  | 'refused_request' // the provider will not take this request, however often
  | 'unauthorized'
  | 'failed';

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  /** Whether the same request can succeed later. */
  readonly retry: boolean;
  readonly retryAfterMs: number | null;
  /** Text that was already shown. */
  readonly partial: string;

  constructor(
    code: ModelErrorCode,
    message: string,
    details: { retry: boolean; retryAfterMs?: number | null; partial?: string; cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retry = details.retry;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.partial = details.partial ?? '';
  }
}
