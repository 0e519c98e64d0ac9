/** Who follows which session in this process: people who are there and may speak at any moment. */

import type { SessionId } from '../core/ids.ts';

export interface Followers {
  has(session: SessionId): boolean;
  /** Counts whoever reads `events`, until they stop. */
  following<T>(session: SessionId, events: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void>;
}

export function followers(): Followers {
  const counts = new Map<SessionId, number>();
  const add = (session: SessionId, more: number): void => {
    const count = (counts.get(session) ?? 0) + more;
    if (count === 0) counts.delete(session);
    else counts.set(session, count);
  };
  return {
    has: (session) => counts.has(session),
    async *following(session, events) {
      add(session, 1);
      try {
        yield* events;
      } finally {
        add(session, -1);
      }
    },
  };
}
