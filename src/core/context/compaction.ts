/**
 * When the past of the model's view gives way to a few lines about it, where the cut goes, and which lines are taken. Pure.
 *
 * D1  Cut only between items: a call and its results are one item, and a step that is under way is none yet.
 * D2  Begun where a longer view costs more than a shorter one, and before the provider would refuse it. Nothing is begun
 *     while the session rests: what nobody asks for is not paid for.
 * D3  It runs beside the turn. Only a view that no request can hold is waited for.
 * D4  Bounded: so many attempts, and not again before the view has grown. Where it cannot wait, the runtime writes the
 *     lines itself, from what stands there, without any model.
 * D5  Lines are taken only when each names events that they were taken from, and the view is smaller after.
 */

import { oneLine } from '../../lib/text.ts';
import { USUAL_RATES } from '../budget/rates.ts';
import type { EventBody, EventOf } from '../event.ts';
import { evolve } from '../evolve.ts';
import type { Item, State } from '../state.ts';
import { textOf } from '../turn.ts';
import type { CompactionReason, SummaryLine } from './event.ts';
import { rulesIn } from './rule.ts';
import {
  contextSize,
  excess,
  fixedTokens,
  itemSize,
  mostTokens,
  pastTokens,
  sumSizes,
  sumTokens,
} from './size.ts';

export const isPressing = (why: CompactionReason): boolean => why === 'window' || why === 'bytes';

// ── when ───────────────────────────────────────────────────────────────────────────────────────────────────

/** Of the window. */
const COST_SHARE = 0.6;
/** Providers forget a prefix after five minutes to an hour. */
const COLD_MS = 60 * 60_000;

export function reasonFor(s: State): CompactionReason | null {
  if (s.turn?.step.phase !== 'generating' && s.turn?.step.phase !== 'acting') return null;
  const pressing = excess(s);
  if (pressing !== null) return pressing;
  const { tokens } = contextSize(s);
  if (tokens < s.context.resumeAt) return null;
  const most = compactAt(s);
  if (tokens > most) return 'cost';
  return tokens > most / 2 && isCold(s) ? 'cold' : null;
}

function isCold({ turn, context }: State): boolean {
  if (turn?.step.phase !== 'generating' || turn.steps !== 1 || context.calledAt === null) return false;
  return turn.step.startedAt - context.calledAt > COLD_MS;
}

/** What is written to a cache, in prices of plain input; nobody takes more for it where nothing is cheaper afterwards. */
const WRITTEN = 1.25;
/** A cache that costs nothing at all would make any view the cheapest. */
const LEAST_CACHED = 0.01;
const SUMMARY_TOKENS = 1_500;
const GROWTH_TOKENS = [200, 8_000] as const;
const LEAST_TOKENS = 8_000;

/**
 * The size at which it costs least to compact, all in all. A view of x tokens costs `cached * x` for each call, and a
 * compaction at x costs `k` once; it grows by g for each call. Per call that is `cached * x / 2 + k * g / (x - floor)`,
 * which is least at `x = floor + sqrt(2 * k * g / cached)`: at usual prices some 50,000 tokens for steps of 2,000.
 */
export function compactAt(s: State): number {
  const { windowTokens, contextTokens } = s.contract.limits;
  const most = windowTokens * COST_SHARE;
  if (contextTokens > 0) return Math.min(contextTokens, most);
  const floor = fixedTokens(s) + pastTokens(s.context.past) + SUMMARY_TOKENS;
  const [least, largest] = GROWTH_TOKENS;
  const grown = sumSizes(s.transcript, s.contract.limits).tokens / Math.max(1, s.context.calls);
  const growth = Math.min(largest, Math.max(least, grown));
  const { out, ...rates } = s.contract.rates ?? USUAL_RATES;
  const cached = Math.max(LEAST_CACHED, rates.cached);
  const written = cached < 1 ? WRITTEN : 1;
  const once = cached * (floor + LEAST_TOKENS) + out * SUMMARY_TOKENS + written * floor;
  return Math.min(most, floor + Math.max(LEAST_TOKENS, Math.sqrt((2 * once * growth) / cached)));
}

// ── where ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Of the size at which it is begun: what stays as it was said, the newest. */
const KEPT_SHARES = [1 / 4, 1 / 8, 0] as const;
/** It has to be worth it. */
const GAIN_SHARE = 0.2;

/** How many of the oldest items leave; null when that would gain too little. */
export function cutOf(s: State, why: CompactionReason): number | null {
  const { limits } = s.contract;
  const { tokens } = contextSize(s);
  const isTight = isPressing(why);
  const most = isTight ? mostTokens(limits) : compactAt(s);
  for (const share of KEPT_SHARES) {
    const items = firstKept(s, most * share);
    const gain = gainOf(s, items);
    const isEnough = isTight ? why === 'bytes' || tokens - gain < most : true;
    if (items > 0 && gain > most * GAIN_SHARE && isEnough) return items;
  }
  // Less than is wanted is more than nothing where no request goes out otherwise.
  const items = firstKept(s, 0);
  return isTight && items > 0 ? items : null;
}

/** What a person said and still stands is in the view afterwards as well. */
function gainOf(s: State, items: number): number {
  const open = new Set<string>(s.turn?.answers);
  const isFirst = s.context.past === null;
  const left = s.transcript.slice(0, items).filter((item, at) => {
    if (item.kind !== 'message' || item.message.from !== 'person') return true;
    return !((isFirst && at === 0) || open.has(item.message.id) || rulesIn(item.message.text) !== null);
  });
  return sumTokens(left, s.contract.limits);
}

function firstKept(s: State, keptTokens: number): number {
  const { transcript, contract } = s;
  let at = transcript.length;
  for (let sum = 0; at > 0; at--) {
    sum += itemSize(transcript[at - 1] as Item, contract.limits).tokens;
    // The last one stays: the model has not read it yet.
    if (sum > keptTokens && at < transcript.length) break;
  }
  return at;
}

// ── which lines ────────────────────────────────────────────────────────────────────────────────────────────

/** Numbers that a line may name: what leaves, and what stands behind lines of before. */
export function sourcesOf(s: State, items: number): ReadonlySet<number> {
  const { past } = s.context;
  return new Set([
    ...s.transcript.slice(0, items).map(({ seq }) => seq),
    ...(past?.instructions.map(({ seq }) => seq) ?? []),
    ...(past?.sections.flatMap(({ seq, lines }) => [seq, ...lines.flatMap(({ sources }) => sources)]) ?? []),
  ]);
}

const MOST_LINES = 60;
const LINE_CHARS = 600;
/** What is left must be this much smaller, at the least. */
const SMALLER = 0.95;

/** D5. What is wrong with these lines, in words; null when they can be taken. */
export function fault(s: State, body: EventOf<'context.compacted'> | Swap): string | null {
  const { lines, items, by } = body;
  if (lines.length === 0 && by === 'model') return 'it was empty';
  if (lines.length > MOST_LINES) return `it had ${lines.length} lines, and ${MOST_LINES} are the most`;
  const known = sourcesOf(s, items);
  for (const { text, sources } of lines) {
    const line = oneLine(text, 60);
    if (text.trim() === '') return 'a line was empty';
    if (text.length > LINE_CHARS) return `a line was longer than ${LINE_CHARS} characters: ${line}`;
    if (sources.length === 0) return `a line named no source: ${line}`;
    const strange = sources.find((seq) => !known.has(seq));
    if (strange !== undefined)
      return `a line named #${strange}, which is not in what was to be summed up: ${line}`;
  }
  const { tokensBefore, tokensAfter } = body;
  return tokensAfter > tokensBefore * SMALLER
    ? `what it left was not smaller: ${tokensAfter} of ${tokensBefore} tokens`
    : null;
}

export type Swap = Extract<EventBody, { kind: 'context.compacted' }>;

/** The swap with its sizes, as it would be now. */
export function swap(s: State, body: Omit<Swap, 'kind' | 'tokensBefore' | 'tokensAfter'>): Swap {
  const swapped = { kind: 'context.compacted', ...body, tokensBefore: 0, tokensAfter: 0 } as const;
  const after = evolve(s, { ...swapped, seq: s.head + 1, at: s.at });
  return { ...swapped, tokensBefore: contextSize(s).tokens, tokensAfter: contextSize(after).tokens };
}

// ── the runtime's own lines ────────────────────────────────────────────────────────────────────────────────

/** D4. The beginning of each item that leaves, the newest ones one by one. */
export function digest(s: State, items: number, why: CompactionReason): Swap {
  const glimpses = s.transcript.slice(0, items).flatMap(glimpse);
  const most = Math.min(MOST_LINES - 1, Math.floor((s.contract.limits.windowTokens * 0.06) / GLIMPSE_TOKENS));
  const older = glimpses.slice(0, Math.max(0, glimpses.length - most));
  const ends = [older[0], older.at(-1)].flatMap((one) => (one ? [one.seq] : []));
  const lines: readonly SummaryLine[] = [
    ...(older.length > 0
      ? [
          {
            kind: 'fact' as const,
            text: `${older.length} earlier entries, from the first to the last of these`,
            sources: [...new Set(ends)],
          },
        ]
      : []),
    ...glimpses.slice(older.length).map(({ seq, text }) => ({ kind: 'fact' as const, text, sources: [seq] })),
  ];
  return swap(s, { items, lines, by: 'runtime', why, charge: null });
}

const GLIMPSE_CHARS = 220;
const GLIMPSE_TOKENS = 90;

/** What an item is about, in one line. What a person said is kept elsewhere, word for word. */
export function glimpse(item: Item): readonly { readonly seq: number; readonly text: string }[] {
  const { seq } = item;
  switch (item.kind) {
    case 'message':
      return item.message.from === 'person' ? [] : [{ seq, text: oneLine(item.message.text, GLIMPSE_CHARS) }];
    case 'note':
      return [{ seq, text: oneLine(item.text, GLIMPSE_CHARS) }];
    case 'reply': {
      const said = textOf(item.parts);
      const called = item.parts.flatMap((part) => {
        if (part.type !== 'tool-call') return [];
        const result = item.results.find(({ call }) => call === part.call);
        const came = result ? ` → ${result.status}: ${oneLine(result.text, 100)}` : '';
        return [`${part.tool} ${oneLine(JSON.stringify(part.input), 80)}${came}`];
      });
      const text = oneLine([...(said === '' ? [] : [said]), ...called].join(' | '), GLIMPSE_CHARS);
      return text === '' ? [] : [{ seq, text }];
    }
  }
}
