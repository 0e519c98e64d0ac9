/** The slice of the state that is about the end of a session: the notice before it, the order, and what is left of it. */

import type { State } from '../state.ts';
import type { DeletionCause, SessionDeleted } from './event.ts';

export interface Retention {
  /** What was said of one rest, and when; that rest may be over by now. */
  readonly notice: { readonly since: number; readonly until: number; readonly at: number } | null;
  /** Why one rest is looked at again before any notice. */
  readonly deferred: { readonly since: number; readonly until: number; readonly why: string } | null;
  /** Why it is being deleted: from then on nothing comes in. */
  readonly going: DeletionCause | null;
  /** All that is left of it. */
  readonly deleted: SessionDeleted | null;
}

export const KEPT: Retention = { notice: null, deferred: null, going: null, deleted: null };

/** D1. */
export const standingRetention = ({ retention: { notice }, activeAt }: State): Retention['notice'] =>
  notice?.since === activeAt ? notice : null;
