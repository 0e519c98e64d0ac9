/**
 * Stream parts -> ModelReply. A draft collects the parts as they come; `toReply` judges it once the stream is over.
 *
 * R1  Parts stand in the order in which they began. Some wires report a call before the text ahead of it has ended.
 * R2  Metadata is kept as it came. It arrives in pieces, at a part's start, on the way and at its end; later members win.
 * R3  Nothing is believed of a call that was cut: bad JSON, no end, or a reply that the limit or a filter cut short
 *     makes it `broken`, whatever the reason for stopping says. `{}` is also what is left of arguments that never came.
 * R4  A stream that did not say why it ended, or that promised calls and brought none, is no reply (M2).
 * R5  A provider's call ids only join the pieces of one call. They may be empty and may repeat.
 * R6  What the provider ran itself is no part of a reply.
 * R7  A file is kept byte for byte. One that is too large to keep, or that stands at an address only, is told in words:
 *     a reply never silently lacks what the model made. A source is kept for people.
 */

import { FILE_BYTES, nameOf, SHOWN_BYTES, sizeOf } from '../../core/file.ts';
import type { Finish, Meta, Usage } from '../../core/message.ts';
import { isRecord, type Json, parseJson, toJson } from '../../lib/json.ts';
import type { ModelReply, ReplyPart } from '../port.ts';
import type { StreamPart, StreamUsage } from './interface.ts';

type FinishPart = Extract<StreamPart, { type: 'finish' }>;

export interface Draft {
  readonly slots: Slot[];
  /** All text so far, as it was shown. */
  text: string;
  finish: FinishPart | null;
}

type Slot = { readonly id: string; meta?: Meta } & (
  | { readonly type: 'text' | 'reasoning'; text: string }
  | { readonly type: 'tool-call'; readonly tool: string; input: string | null }
  | { readonly type: 'file'; readonly mediaType: string; readonly data: Uint8Array }
  | { readonly type: 'source'; readonly title: string; readonly url: string | null }
);

export const newDraft = (): Draft => ({ slots: [], text: '', finish: null });

/** Adds one stream part to the draft; kinds that a reply cannot hold are ignored (K2). */
export function take(draft: Draft, part: StreamPart): void {
  switch (part.type) {
    case 'text-start':
      addMeta(openProse(draft, 'text', part.id), part);
      break;
    case 'reasoning-start':
      addMeta(openProse(draft, 'reasoning', part.id), part);
      break;
    case 'text-delta':
      draft.text += part.delta;
      addProse(draft, 'text', part, part.delta);
      break;
    case 'reasoning-delta':
      addProse(draft, 'reasoning', part, part.delta);
      break;
    case 'text-end':
      addProse(draft, 'text', part, '');
      break;
    case 'reasoning-end':
      addProse(draft, 'reasoning', part, '');
      break;
    case 'file':
    case 'reasoning-file':
      addMeta(addFile(draft, part), part);
      break;
    case 'source':
      addMeta(addSource(draft, part), part);
      break;
    case 'tool-input-start':
      if (!part.providerExecuted) addMeta(openCall(draft, part.id, part.toolName), part);
      break;
    case 'tool-call':
      if (!part.providerExecuted) closeCall(draft, part);
      break;
    case 'finish':
      draft.finish = part;
      break;
  }
}

/** The reply, or in words why there is none (R4). */
export function toReply({ slots, finish }: Draft): ModelReply | { readonly incomplete: string } {
  if (finish === null) return { incomplete: 'it ended without its end mark' };
  const { unified, raw } = finish.finishReason;
  const parts = slots.flatMap((slot) => toPart(slot, CUT[unified]) ?? []);
  const hasCalls = parts.some((part) => part.type === 'tool-call');
  const usage = toUsage(finish.usage);
  switch (unified) {
    case 'stop':
      return { parts, finish: hasCalls ? 'tool-calls' : 'stop', usage };
    case 'tool-calls':
      return hasCalls
        ? { parts, finish: 'tool-calls', usage }
        : { incomplete: 'it announced calls and has none' };
    case 'length':
    case 'content-filter':
      return { parts, finish: FINISH[unified], usage };
    case 'other':
      if (raw === undefined) return { incomplete: 'it ended without its end mark' };
      if (REFUSED.test(raw)) return { parts, finish: 'refusal', usage };
      return { parts, finish: hasCalls ? 'tool-calls' : 'other', usage };
    default:
      return { incomplete: `it ended with ${raw ?? unified}` };
  }
}

const FINISH = { length: 'length', 'content-filter': 'refusal' } as const satisfies Record<string, Finish>;

/** Google's newer words for a refusal, which the SDK does not know: `IMAGE_PROHIBITED_CONTENT`, `MODEL_ARMOR`. */
const REFUSED = /SAFETY|PROHIBITED|RECITATION|MODEL_ARMOR/;

/** Why calls cannot be trusted, by the reason for stopping (R3). */
const CUT: { readonly [unified: string]: string | undefined } = {
  length: 'the reply was cut at the output limit',
  'content-filter': 'the provider withheld the rest of the reply',
};

type Prose = Extract<Slot, { type: 'text' | 'reasoning' }>;
type Call = Extract<Slot, { type: 'tool-call' }>;
type Piece = { readonly id: string; readonly providerMetadata?: unknown };

function openProse(draft: Draft, type: Prose['type'], id: string): Prose {
  const slot: Prose = { type, id, text: '' };
  draft.slots.push(slot);
  return slot;
}

function addProse(draft: Draft, type: Prose['type'], piece: Piece, delta: string): void {
  const isOwner = (slot: Slot): slot is Prose => slot.type === type && slot.id === piece.id;
  // The last one: some wires use one id for every part of a kind.
  const slot = draft.slots.findLast(isOwner) ?? openProse(draft, type, piece.id);
  slot.text += delta;
  addMeta(slot, piece);
}

function addFile(
  draft: Draft,
  { mediaType, data }: Extract<StreamPart, { type: 'file' | 'reasoning-file' }>,
): Slot {
  const bytes = bytesOf(data);
  const kept = draft.slots.reduce((sum, slot) => sum + (slot.type === 'file' ? slot.data.length : 0), 0);
  const fits = bytes !== null && bytes.length <= FILE_BYTES && kept + bytes.length <= SHOWN_BYTES;
  const slot: Slot = fits
    ? { type: 'file', id: '', mediaType, data: bytes }
    : { type: 'text', id: '', text: `[${notKept(mediaType, bytes)}]` };
  draft.slots.push(slot);
  return slot;
}

function notKept(mediaType: string, bytes: Uint8Array | null): string {
  return bytes === null
    ? `A file of type ${mediaType} came with this reply as an address only; it was not kept.`
    : `${nameOf({ mediaType, bytes: bytes.length })}: too large to keep, ${sizeOf(FILE_BYTES)} is the most.`;
}

/** Version 4 wraps the bytes, or gives an address instead of them. */
function bytesOf(data: unknown): Uint8Array | null {
  if (typeof data === 'string') return new Uint8Array(Buffer.from(data, 'base64'));
  if (data instanceof Uint8Array) return data;
  return isRecord(data) && data.type === 'data' ? bytesOf(data.data) : null;
}

function addSource(draft: Draft, { title, url }: Extract<StreamPart, { type: 'source' }>): Slot {
  const slot: Slot = { type: 'source', id: '', title: title ?? url ?? '', url: url ?? null };
  draft.slots.push(slot);
  return slot;
}

function openCall(draft: Draft, id: string, tool: string): Call {
  const slot: Call = { type: 'tool-call', id, tool, input: null };
  draft.slots.push(slot);
  return slot;
}

function closeCall(draft: Draft, part: Extract<StreamPart, { type: 'tool-call' }>): void {
  const isOwner = (slot: Slot): slot is Call =>
    slot.type === 'tool-call' &&
    slot.input === null &&
    slot.id === part.toolCallId &&
    slot.tool === part.toolName;
  // The first open one: calls end in the order in which they began, also when their ids are the same.
  const slot = draft.slots.find(isOwner) ?? openCall(draft, part.toolCallId, part.toolName);
  slot.input = part.input;
  addMeta(slot, part);
}

function addMeta(slot: Slot, { providerMetadata }: Pick<Piece, 'providerMetadata'>): void {
  if (!isRecord(providerMetadata)) return;
  const meta: { [provider: string]: Json } = { ...slot.meta };
  for (const [provider, news] of Object.entries(toJson(providerMetadata) as Meta)) {
    const old = meta[provider];
    meta[provider] = isRecord(old) && isRecord(news) ? { ...(old as Meta), ...(news as Meta) } : news;
  }
  slot.meta = meta;
}

function toPart(slot: Slot, cut: string | undefined): ReplyPart | undefined {
  const meta = slot.meta === undefined ? {} : { meta: slot.meta };
  switch (slot.type) {
    case 'text':
      return slot.text === '' ? undefined : { type: 'text', text: slot.text, ...meta };
    case 'reasoning':
      return slot.text === '' && slot.meta === undefined
        ? undefined
        : { type: 'reasoning', text: slot.text, ...meta };
    case 'file':
      return { type: 'file', mediaType: slot.mediaType, data: slot.data, ...meta };
    case 'source':
      return { type: 'source', title: slot.title, url: slot.url, ...meta };
    case 'tool-call': {
      const args = cut === undefined ? parse(slot.input) : { input: {}, broken: cut };
      return { type: 'tool-call', tool: slot.tool, ...args, ...meta };
    }
  }
}

function parse(text: string | null): { readonly input: Json; readonly broken?: string } {
  if (text === null) return { input: {}, broken: 'the arguments have no end' };
  // A call without arguments comes as an empty text from some servers.
  if (text.trim() === '') return { input: {} };
  const input = parseJson(text);
  if (input === undefined) return { input: {}, broken: 'the arguments are no valid JSON' };
  return isRecord(input) ? { input } : { input: {}, broken: 'the arguments are no JSON object' };
}

function toUsage({ inputTokens, outputTokens }: StreamUsage): Usage {
  const { total = 0, cacheRead = 0, cacheWrite = 0 } = inputTokens;
  const usage = { inputTokens: total, outputTokens: outputTokens.total ?? 0, cachedTokens: cacheRead };
  return cacheWrite > 0 ? { ...usage, cacheWriteTokens: cacheWrite } : usage;
}
