/** The event kinds of the model's view: that the oldest of it gives way to a few lines. */

import type { Cost } from '../budget/budget.ts';
import type { Usage } from '../message.ts';

/** Why the view is made smaller: it costs more than it has to, or the provider takes no more, or its cache is cold. */
export type CompactionReason = 'cost' | 'window' | 'bytes' | 'cold';

/** One thing that is worth knowing, and the events that it was taken from. */
export interface SummaryLine {
  readonly kind: 'fact' | 'decision';
  readonly text: string;
  readonly sources: readonly number[];
}

/** What a model call took; null when none was made. */
export interface Charge {
  readonly charge: { readonly usage: Usage; readonly cost: Cost | null; readonly ms: number } | null;
}

export type ContextEvent =
  /** The oldest items of the transcript are to leave the model's view. */
  | { readonly kind: 'compaction.started'; readonly items: number; readonly why: CompactionReason }
  /** They have left it: these lines stand in their place. The log keeps everything. */
  | ({
      readonly kind: 'context.compacted';
      readonly items: number;
      /** Never empty, unless nothing but words of people has left. */
      readonly lines: readonly SummaryLine[];
      /** Who wrote the lines. The runtime's are beginnings of what was there. */
      readonly by: 'model' | 'runtime';
      readonly why: CompactionReason;
      /** Size of the view, as it was reckoned. */
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    } & Charge)
  /** What came of an attempt was of no use; the view is as it was. */
  | ({
      readonly kind: 'compaction.failed';
      readonly items: number;
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
    } & Charge);
