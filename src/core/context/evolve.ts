/**
 * The model's view in the fold: what has left it, what stands in its place, and how large it is.
 *
 * X1  One event swaps the old view for the new one: the items leave and the lines come in the same transition, or
 *     nothing does.
 * X2  What a person has said is never summarised. It stays word for word while it is the order, a rule, or not answered,
 *     and after that as far as a share of the window goes (`said`).
 * X3  What stands for the past is bounded, however long it is: the oldest lines give way to the number of the event
 *     that holds them.
 */

import { head as headOf } from '../../lib/text.ts';
import { chargedCall } from '../budget/evolve.ts';
import type { EventOf } from '../event.ts';
import type { Item, State } from '../state.ts';
import { touchedAfter } from '../workspace/evolve.ts';
import { UNTOUCHED } from '../workspace/state.ts';
import type { Charge } from './event.ts';
import { rulesIn } from './rule.ts';
import { shown, tightened } from './said.ts';
import { contextSize, messageChars, sectionTokens, sumSizes } from './size.ts';
import type { Context, Instruction, Past, Section, TurnEnd } from './state.ts';

/** Attempts at one compaction; then it is left for later, or the runtime writes the lines. */
export const ATTEMPTS = 2;
const RETRY_MS = 2_000;
/** After all attempts: how much the view grows before it is tried again. */
const GROWN = 1.25;

export function started(s: State, e: EventOf<'compaction.started'>): State {
  return having(s, { compacting: { items: e.items, attempt: 1, refused: null, notBefore: e.at } });
}

export function failed(s: State, e: EventOf<'compaction.failed'>): State {
  const after = charged(s, e);
  const { compacting } = after.context;
  if (compacting?.attempt !== e.attempt) return after;
  if (e.attempt < ATTEMPTS) {
    const attempt = e.attempt + 1;
    return having(after, {
      compacting: { ...compacting, attempt, refused: e.message, notBefore: e.at + RETRY_MS },
    });
  }
  return having(after, { compacting: null, resumeAt: Math.ceil(contextSize(after).tokens * GROWN) });
}

/** X1. */
export function compacted(s: State, e: EventOf<'context.compacted'>): State {
  const after = charged(s, e);
  const left = after.transcript.slice(0, e.items);
  const transcript = after.transcript.slice(e.items);
  const { context, contract } = after;
  const before = context.past;
  const { instructions, more } = kept(after, left);
  const past: Past = {
    seq: e.seq,
    times: (before?.times ?? 0) + 1,
    items: (before?.items ?? 0) + left.length,
    instructions,
    more,
    files: touchedAfter(before?.files ?? UNTOUCHED, after.workspace.touched),
    terms: { contract, budget: after.budget.limits },
    sections: aged(
      [...(before?.sections ?? []), ...(e.lines.length > 0 ? [{ seq: e.seq, lines: e.lines }] : [])],
      contract.limits.windowTokens * SECTIONS_SHARE,
    ),
  };
  const turns = new Set(transcript.flatMap((item) => (item.kind === 'note' ? [] : [item.turn])));
  const ends = context.ends.filter(({ turn }) => turns.has(turn));
  const swapped: State = {
    ...having(after, { past, compacting: null, counted: null, calls: 0, resumeAt: 0, ends }),
    transcript,
    workspace: { ...after.workspace, touched: UNTOUCHED },
  };
  return tightened(swapped, bare(past.sections));
}

/** A model has answered: its provider knows how large the request was. */
export function counted(s: State, e: EventOf<'model.completed'>): State {
  const { context, transcript, contract } = s;
  const tokens = e.usage.inputTokens;
  const calls = { calls: context.calls + 1, calledAt: e.at };
  if (tokens === 0) return having(s, calls);
  const items = transcript.length;
  // From the first count, when the items are few, and what is estimated of them can be little too much.
  const beside = tokens - sumSizes(transcript, contract.limits).tokens;
  const fixed = context.fixed ?? Math.max(0, beside);
  return having(s, { ...calls, counted: { tokens, items }, fixed });
}

export function turnEnded(s: State, turn: number, end: TurnEnd): State {
  return having(s, { ends: [...s.context.ends, { turn, end }] });
}

// ── instructions ───────────────────────────────────────────────────────────────────────────────────────────

/** X2. */
function kept(s: State, left: readonly Item[]): Pick<Past, 'instructions' | 'more'> {
  const { past, ends } = s.context;
  const open = new Set<string>(s.turn?.answers);
  const endOf = (turn: number): TurnEnd => ends.find((one) => one.turn === turn)?.end ?? 'surfaced';
  const before = (past?.instructions ?? []).map((one): Instruction => {
    const isOver = one.status === 'open' && one.turn !== s.turn?.number;
    return isOver ? over(one, endOf(one.turn)) : one;
  });
  let n = (past?.more ?? 0) + before.length;
  const added = left.flatMap((item): readonly Instruction[] => {
    if (item.kind !== 'message' || item.message.from !== 'person') return [];
    const { seq, turn, message } = item;
    const text = message.text;
    const one: Instruction = { n: ++n, seq, turn, status: 'open', text: inView(s, text) };
    if (one.n === 1) return [{ ...one, status: 'order' }];
    if (open.has(message.id)) return [one];
    return [over(one, endOf(turn))];
  });
  const instructions = shown([...before, ...added], s.contract.limits);
  return { instructions, more: n - instructions.length };
}

/** One that is answered, or never will be. */
const over = (one: Instruction, end: TurnEnd): Instruction => ({
  ...one,
  status: rulesIn(one.text) === null ? end : 'rule',
});

/** What is too long for the view is cut there and nowhere else. */
const inView = ({ contract }: State, text: string): string => headOf(text, messageChars(contract.limits));

// ── sections ───────────────────────────────────────────────────────────────────────────────────────────────

/** Of the window, for all lines together. */
const SECTIONS_SHARE = 0.08;

/** X3. */
function aged(sections: readonly Section[], mostTokens: number): readonly Section[] {
  let all = sections;
  while (all.length > 1 && sectionTokens(all) > mostTokens) {
    const [oldest, second, ...rest] = all as [Section, Section, ...Section[]];
    // Decisions outlive facts; then all that is left of a compaction is where it stands.
    const lines = oldest.lines.filter((line) => line.kind === 'decision' || isPointer(line));
    const isShorter = lines.length < oldest.lines.length && lines.some((line) => !isPointer(line));
    all = isShorter
      ? [{ ...oldest, lines }, second, ...rest]
      : [{ seq: second.seq, lines: [pointer(oldest), ...second.lines] }, ...rest];
  }
  return all;
}

/** All lines of all sections, by the numbers of their events. */
function bare(sections: readonly Section[]): readonly Section[] {
  const [last, ...rest] = aged(sections, 0);
  return last === undefined
    ? []
    : [{ ...last, lines: last.lines.every(isPointer) ? last.lines : [pointer(last)] }, ...rest];
}

/** Names what it stands for, so that it can be brought back; a pointer to pointers grows no longer. */
function pointer({ seq, lines }: Section): Section['lines'][number] {
  const before = lines.find(isPointer);
  const sources = [...(before?.sources ?? []), seq].slice(-MOST_POINTERS);
  return { kind: 'fact', text: POINTER, sources };
}

const POINTER = 'Older summaries: their lines stand in these events.';
const MOST_POINTERS = 24;
const isPointer = ({ text }: Section['lines'][number]): boolean => text === POINTER;

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

const having = (s: State, change: Partial<Context>): State => ({
  ...s,
  context: { ...s.context, ...change },
});

const charged = (s: State, { charge }: Charge): State => (charge === null ? s : chargedCall(s, charge));
