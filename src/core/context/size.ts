/**
 * How large the model's view is, without a tokenizer and without building it. Pure.
 *
 * Z1  On the safe side: a third of the bytes, which is more than the tokenizers of today make of text and code, and a
 *     round number for each file. What a provider has counted is taken from it; only what came since is estimated.
 * Z2  An item is measured once, as it is shown. So a step costs the same late as early.
 */

import { bytesOf } from '../../lib/text.ts';
import type { Limits } from '../limits.ts';
import type { Item, State } from '../state.ts';
import type { Instruction, Past } from './state.ts';

export const BYTES_PER_TOKEN = 3;
/** More than providers count for the largest image that they take. */
export const FILE_TOKENS = 3_000;
/** Rules, tools and the present, before any provider has counted them. */
const FIXED_TOKENS = 4_000;
/** The contract, in what stands for the past. */
const TERMS_TOKENS = 120;
/** Beside the path of a file. */
const FILE_LINE_BYTES = 24;
/** A role, ids and brackets around each item. */
const FRAME_BYTES = 60;

export interface Size {
  readonly tokens: number;
  /** As it is sent: files as base64. */
  readonly bytes: number;
}

/** Of the window: room for the reply, and for what an estimate may be off. */
const MOST_SHARE = 0.85;

export const mostTokens = ({ windowTokens }: Limits): number => windowTokens * MOST_SHARE;
const mostBytes = ({ requestBytes }: Limits): number => requestBytes * MOST_SHARE;

/** Why no provider would take the next request; null when it would. */
export function excess(s: State): 'window' | 'bytes' | null {
  const { limits } = s.contract;
  const { tokens, bytes } = contextSize(s);
  if (tokens > mostTokens(limits)) return 'window';
  return bytes > mostBytes(limits) ? 'bytes' : null;
}

export const isTooLarge = (s: State): boolean => excess(s) !== null;

/** Of the next request. */
export function contextSize(s: State): Size {
  const { transcript, context, contract } = s;
  const { counted, past } = context;
  const beside = fixedTokens(s) + pastTokens(past);
  const all = sumSizes(transcript, contract.limits);
  const since = all.tokens - sumSizes(transcript, contract.limits, counted?.items ?? 0).tokens;
  return {
    tokens: (counted?.tokens ?? beside) + since,
    bytes: beside * BYTES_PER_TOKEN + all.bytes,
  };
}

export const fixedTokens = ({ context }: State): number => context.fixed ?? FIXED_TOKENS;

/** Of these items, as they are shown. */
export const sumTokens = (items: readonly Item[], limits: Limits): number =>
  items.reduce((sum, item) => sum + itemSize(item, limits).tokens, 0);

interface Sum extends Size {
  readonly limits: Limits;
  /** Where the transcript begins: another place after a compaction. */
  readonly first: Item;
}

/**
 * Of a transcript up to each of its items. It is asked at every look for work, and a transcript only grows (F2 of the
 * state): what is known of its beginning is taken on from there.
 */
const sums = new WeakMap<Item, Sum>();
const NONE: Size = { tokens: 0, bytes: 0 };

/** Of the first `count` items of a transcript, all of them unless it says so. */
export function sumSizes(transcript: readonly Item[], limits: Limits, count = transcript.length): Size {
  const [first] = transcript;
  if (first === undefined) return NONE;
  const known = (at: number): Sum | undefined => {
    const sum = sums.get(transcript[at] as Item);
    return sum?.first === first && sum.limits === limits ? sum : undefined;
  };
  let from = count;
  while (from > 0 && known(from - 1) === undefined) from--;
  let sum: Size = from > 0 ? (known(from - 1) as Sum) : NONE;
  for (let at = from; at < count; at++) {
    const item = transcript[at] as Item;
    const { tokens, bytes } = itemSize(item, limits);
    const next: Sum = { limits, first, tokens: sum.tokens + tokens, bytes: sum.bytes + bytes };
    sums.set(item, next);
    sum = next;
  }
  return sum;
}

// ── what is shown of one item ──────────────────────────────────────────────────────────────────────────────

/** Of a step, with all results of its calls, at most a quarter of the window: so that one step never fills it. */
const stepChars = ({ windowTokens }: Limits): number => Math.floor((windowTokens / 4) * BYTES_PER_TOKEN);

/** Characters of each result that are shown, where a step has so many of them. */
export const resultChars = (limits: Limits, results: number): number =>
  Math.max(200, Math.min(limits.outputChars, Math.floor(stepChars(limits) / Math.max(1, results))));

/** Characters of what a person says that are shown: half a window. */
export const messageChars = (limits: Limits): number => 2 * stepChars(limits);

// ── measuring ──────────────────────────────────────────────────────────────────────────────────────────────

const measured = new WeakMap<Item, { readonly limits: Limits; readonly size: Size }>();

export function itemSize(item: Item, limits: Limits): Size {
  const before = measured.get(item);
  if (before?.limits === limits) return before.size;
  const size = measure(item, limits);
  measured.set(item, { limits, size });
  return size;
}

function measure(item: Item, limits: Limits): Size {
  switch (item.kind) {
    case 'note':
      return sized(shownBytes(item.text, limits.outputChars), []);
    case 'message':
      return sized(shownBytes(item.message.text, messageChars(limits)), item.message.images);
    case 'reply': {
      const most = resultChars(limits, item.results.length);
      const results = item.results.reduce((sum, { text }) => sum + shownBytes(text, most) + FRAME_BYTES, 0);
      const files = item.parts.flatMap((part) => (part.type === 'file' ? [part] : []));
      return sized(bytesOf(JSON.stringify(item.parts)) + results, files);
    }
  }
}

/** Of what is cut a beginning of the same length is measured, and room for the line that says so. */
const shownBytes = (text: string, most: number): number =>
  text.length <= most ? bytesOf(text) : bytesOf(text.slice(0, most)) + FRAME_BYTES;

function sized(text: number, files: readonly { readonly bytes: number }[]): Size {
  const bytes = text + FRAME_BYTES + files.reduce((sum, file) => sum + Math.ceil(file.bytes / 3) * 4, 0);
  return { tokens: Math.ceil((text + FRAME_BYTES) / BYTES_PER_TOKEN) + files.length * FILE_TOKENS, bytes };
}

const pasts = new WeakMap<Past, number>();

/** Of what stands for the compacted past. */
export function pastTokens(past: Past | null): number {
  if (past === null) return 0;
  const before = pasts.get(past);
  if (before !== undefined) return before;
  const said = past.instructions.reduce((sum, one) => sum + instructionTokens(one), 0);
  const files = past.files.files.reduce((sum, { path }) => sum + bytesOf(path) + FILE_LINE_BYTES, 0);
  const tokens = Math.ceil(TERMS_TOKENS + sectionTokens(past.sections) + said + files / BYTES_PER_TOKEN);
  pasts.set(past, tokens);
  return tokens;
}

export const instructionTokens = ({ text }: Instruction): number =>
  (bytesOf(text) + FRAME_BYTES) / BYTES_PER_TOKEN;

export const sectionTokens = (sections: Past['sections']): number =>
  sections.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + lineTokens(line), 0), 0);

const lineTokens = ({ text, sources }: Past['sections'][number]['lines'][number]): number =>
  (bytesOf(text) + 16 + sources.length * 7) / BYTES_PER_TOKEN;
