/**
 * What goes to a model and what comes back, in the product's own neutral shape.
 *
 * Reply parts are kept byte for byte: `meta` is the provider's metadata (signatures, item ids) and is sent back
 * exactly as it came, whether or not we understand it.
 *
 * The log, the state and the view hold references to files, a request holds their bytes; the types below are made for
 * both (`File`), so that no request can leave with a reference in it.
 */

import type { Json } from '../lib/json.ts';
import type { FileData, FileRef } from './file.ts';
import type { CallId, MessageId } from './ids.ts';
import type { Residency } from './residency/policy.ts';

export type Meta = { readonly [provider: string]: Json };

/** One part of a model's reply, in the order in which the parts began. */
export type Part = PartWith<FileRef>;

export type PartWith<File> =
  | { readonly type: 'text'; readonly text: string; readonly meta?: Meta }
  | { readonly type: 'reasoning'; readonly text: string; readonly meta?: Meta }
  | ({ readonly type: 'file'; readonly meta?: Meta } & File)
  | SourcePart
  | ToolCallPart;

/** What a provider's own search found. It is kept for people; no provider takes it back. */
export interface SourcePart {
  readonly type: 'source';
  readonly title: string;
  /** Null for a document. */
  readonly url: string | null;
  readonly meta?: Meta;
}

export interface ToolCallPart {
  readonly type: 'tool-call';
  /** Minted by the runtime: providers send empty and repeated ids. */
  readonly call: CallId;
  readonly tool: string;
  /** Parsed arguments; the empty object when `broken` says that they could not be used. */
  readonly input: Json;
  /** Why this call cannot be run (cut arguments, no JSON); such a call is answered and never run. */
  readonly broken?: string;
  readonly meta?: Meta;
}

export type Finish = 'stop' | 'tool-calls' | 'length' | 'refusal' | 'other';

export interface Usage {
  /** All of them, what was cached and what was written to the cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input, what the provider had in its cache. */
  readonly cachedTokens: number;
  /** Of the input, what it wrote to its cache, as far as it says so: some charge more for it. */
  readonly cacheWriteTokens?: number | undefined;
}

/** What the model is told about a call. `unknown` is never an error and never a success. */
export type ResultStatus = 'done' | 'failed' | 'unknown' | 'refused' | 'interrupted' | 'suspended';

export interface CallResult {
  readonly status: ResultStatus;
  readonly text: string;
  readonly whole?: Whole;
}

/** Where a text can be read again that is cut in the view. */
export interface Whole {
  /** The event that says it. */
  readonly seq: number;
  /** Where in this text that of the event begins; before it, when it is negative. */
  readonly from: number;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, always of type object. */
  readonly input: Json;
}

export type RequestMessage = MessageWith<FileData, FileData>;
export type RequestPart = PartWith<FileData>;

/** A message of the view, with references: `name` is what the image is called in words. */
export type ViewMessage = MessageWith<FileRef & { readonly name: string }, FileRef>;

type MessageWith<Image, File> =
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly Image[] }
  | { readonly role: 'assistant'; readonly parts: readonly PartWith<File>[] }
  | {
      readonly role: 'tool';
      readonly results: readonly ({ readonly call: CallId; readonly tool: string } & Omit<
        CallResult,
        'whole'
      >)[];
    };

/** Everything a model gets. Nothing about the session reaches a model by another way. */
export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly RequestMessage[];
  /** How many messages the next request begins with as well; all, when it is not said. */
  readonly stable?: number;
  /** The last message is a question about the work: it is answered in words, and no part of the work. */
  readonly isAside?: true;
  /** The last message asks for what must be kept of the past: lines, each with its sources. */
  readonly isCompaction?: true;
}

/** A request before its files are read. */
export interface View extends Omit<ModelRequest, 'messages'> {
  readonly messages: readonly ViewMessage[];
  /** Index of the first message that may hold a file; null when none does. What stands before it is as it is sent. */
  readonly filesFrom: number | null;
}

/** When a message is read: before the next model call, after the current response, or at once. */
export type When = 'next' | 'later' | 'now';

export interface Message {
  readonly id: MessageId;
  /** The event that holds it. */
  readonly seq: number;
  readonly text: string;
  readonly images: readonly FileRef[];
  /** `person` for people and programs outside; `runtime` for what the session reports to itself. */
  readonly from: 'person' | 'runtime';
  readonly when: When;
  readonly at: number;
  /** Of what the session reports to itself. */
  readonly whole?: Whole;
}

/** What `send` answers once the message is durable; the same again for the same key. */
export interface Receipt {
  readonly message: MessageId;
  /** Position in the log. */
  readonly seq: number;
  /** The rule that applies to this message, in words. */
  readonly rule: string;
  /** From where it wakes a session that rested; not there where nothing rested. */
  readonly woke?: Residency;
}
