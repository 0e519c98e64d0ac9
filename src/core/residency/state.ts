/** The slice of the state that says how often and how soon people came back to a session that rested. */

import type { Residency } from './policy.ts';

export interface Residence {
  /** Instructions that came while it rested, and how long it had rested before the last of them. */
  readonly followUps: number;
  readonly gapMs: number | null;
  /** Since when it rested when it was last archived; null before. */
  readonly archivedSince: number | null;
  /** The last wake by a message: from where, and how long it took until there was all it had; null until that is known. */
  readonly woke: {
    readonly from: Residency;
    readonly at: number;
    readonly ms: number | null;
    /** Whether it had been completed. */
    readonly isEarly: boolean;
    /** Whether a model has read what there was again. */
    readonly isRead: boolean;
  } | null;
  /** Follow-ups that found it completed: how many, how long they waited, and the tokens that were read again for them. */
  readonly tooEarly: { readonly times: number; readonly ms: number; readonly tokens: number };
  /** Memory that was held while it rested, up to each parking. */
  readonly heldMbMinutes: number;
}

export const NEW_RESIDENCE: Residence = {
  ...{ followUps: 0, gapMs: null, archivedSince: null, woke: null },
  ...{ tooEarly: { times: 0, ms: 0, tokens: 0 }, heldMbMinutes: 0 },
};
