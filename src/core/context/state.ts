import type { Budgets } from '../budget/budget.ts';
import type { Contract } from '../state.ts';
import type { Touched } from '../workspace/state.ts';
import type { SummaryLine } from './event.ts';
/** The slice of the state that the model's view is made of, beside the transcript: what has left it, and its size. */

export type TurnEnd = 'surfaced' | 'failed' | 'interrupted' | 'passed';

export interface Context {
  /** What became of the items that have left the transcript; null while none has. */
  readonly past: Past | null;
  /** A compaction that was begun and has not come to its end. */
  readonly compacting: Compacting | null;
  /** The last request as its provider counted it, and how many items of the transcript it held. */
  readonly counted: { readonly tokens: number; readonly items: number } | null;
  /** Tokens of a request beside its items, learned from the first count: rules, tools, the present. */
  readonly fixed: number | null;
  /** Model calls since the last compaction, and the instant of the last one. */
  readonly calls: number;
  readonly calledAt: number | null;
  /** After attempts that came to nothing: not begun again below this size. */
  readonly resumeAt: number;
  /** Replies of turns up to this one go back as plain text and calls: a provider refused what it had signed. 0: none. */
  readonly plainTo: number;
  /** Turns that have ended and have messages in the transcript. */
  readonly ends: readonly { readonly turn: number; readonly end: TurnEnd }[];
}

export const NO_CONTEXT: Context = {
  past: null,
  compacting: null,
  counted: null,
  fixed: null,
  calls: 0,
  calledAt: null,
  resumeAt: 0,
  plainTo: 0,
  ends: [],
};

/** The compacted past: what stands in the view in place of the items that left it. Bounded. */
export interface Past {
  /** The event of the last compaction. */
  readonly seq: number;
  /** How often it was compacted. */
  readonly times: number;
  /** How many items have left so far. */
  readonly items: number;
  /** What people have said in them, in order (`said.ts`). */
  readonly instructions: readonly Instruction[];
  /** Older instructions that are answered, and are only counted. */
  readonly more: number;
  readonly sections: readonly Section[];
  /** The files that were changed before it. */
  readonly files: Touched;
  /** The contract as it was then: what stands for the past changes with a compaction and at no other time. */
  readonly terms: { readonly contract: Contract; readonly budget: Budgets };
}

export interface Instruction {
  readonly n: number;
  readonly seq: number;
  readonly turn: number;
  /** Why it is shown: it is the order, a rule that stands, or not answered yet; else what became of it. */
  readonly status: 'order' | 'rule' | 'open' | TurnEnd;
  /** Word for word; of a long message with a rule in it, the sentences that say it. */
  readonly text: string;
  /** Only its beginning stands here. */
  readonly cut?: true;
}

/** What one compaction has left. */
export interface Section {
  readonly seq: number;
  readonly lines: readonly SummaryLine[];
}

export interface Compacting {
  /** How many of the oldest items are to leave. */
  readonly items: number;
  readonly attempt: number;
  /** Why the attempt before was refused; null for the first. */
  readonly refused: string | null;
  readonly notBefore: number;
}
