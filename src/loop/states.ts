/** Folded states that are at hand, so that a command does not fold a long log anew. A cache: the log is the truth. */

import type { SessionId } from '../core/ids.ts';
import type { State } from '../core/state.ts';

export interface States {
  get(session: SessionId): State | undefined;
  /** Keeps the newer of what is known and `state`. */
  set(session: SessionId, state: State): void;
}

export function states(capacity = 500): States {
  const known = new Map<SessionId, State>();
  return {
    get: (session) => known.get(session),
    set(session, state) {
      const old = known.get(session);
      if (old && old.head > state.head) return;
      known.delete(session);
      known.set(session, state);
      if (known.size > capacity) for (const oldest of [...known.keys()].slice(0, 1)) known.delete(oldest);
    },
  };
}
