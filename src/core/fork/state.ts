/** The slice of the state that says where a session was forked from. */

import type { SessionId } from '../ids.ts';
import type { State } from '../state.ts';

export interface Fork {
  readonly from: SessionId;
  /** The last event of the original that it shares. */
  readonly head: number;
  /** Place of its `session.forked`. */
  readonly seq: number;
  readonly lineage: SessionId;
  /** Cells that the original had started by then: their code may not act here. */
  readonly cells: number;
}

/** The id that sealed images and files are bound to: that of the session itself, unless it is a fork. */
export const lineageOf = (s: State, session: SessionId): SessionId => s.fork?.lineage ?? session;
