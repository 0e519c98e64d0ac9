/** The one event kind of forks. */

import type { Budgets } from '../budget/budget.ts';
import type { Parent } from '../family/event.ts';
import type { SessionId } from '../ids.ts';

/**
 * All events before this one are those of another session, copied; from here on it is a session of its own. What was
 * in flight stays with the original: open effects, decisions, timers, and messages that had not been read.
 */
export type ForkEvent = {
  readonly kind: 'session.forked';
  readonly from: SessionId;
  /** The last event of the original that it shares. */
  readonly head: number;
  /** The session that the first original was: what is sealed is bound to its id, in all forks. */
  readonly lineage: SessionId;
  readonly title: string;
  readonly by: string;
  /** Of a child that begins as a fork of its parent; with its own budget. */
  readonly parent?: Parent;
  readonly budget?: Budgets;
};
