/**
 * Retention: the notice before a session is deleted, the order, and what is left of it.
 *
 * D1  A notice is about one rest: whatever comes in withdraws it, as with a kernel's (kernel/evolve.ts N3).
 * D2  Once it is being deleted nothing comes in any more, and nothing brings it back.
 * D3  What its tombstone says is all that is known of it: the fold of the tombstone alone is that of the whole log.
 */

import type { EventOf } from '../event.ts';
import type { State } from '../state.ts';
import { KEPT } from './state.ts';

export function noticed(s: State, { since, until, at }: EventOf<'retention.noticed'>): State {
  return { ...s, retention: { ...KEPT, notice: { since, until, at } } };
}

export function deferred(s: State, { since, until, why }: EventOf<'retention.deferred'>): State {
  return { ...s, retention: { ...KEPT, deferred: { since, until, why } } };
}

export function over(s: State, { since }: EventOf<'retention.over'>): State {
  const { notice } = s.retention;
  if (notice?.since !== since) return s;
  const cause = { by: 'policy', since, noticedAt: notice.at, until: notice.until } as const;
  return { ...s, retention: { ...s.retention, going: cause } };
}

export const ordered = (s: State, { by: who, at }: EventOf<'session.deleting'>): State => ({
  ...s,
  retention: { ...s.retention, going: { by: 'order', who, at } },
});

/** D3: nothing is taken over from the state before. */
export function deleted(empty: State, e: EventOf<'session.deleted'>): State {
  const { cause, was, had, epoch, at } = e;
  const { owner, title, persist, startedAt, profile, parent = null } = was;
  const { contract } = empty;
  return {
    ...empty,
    contract: {
      ...contract,
      ...{ owner, title, persist, startedAt },
      ...(profile === undefined ? {} : { profile }),
    },
    lifetime: { ...empty.lifetime, status: 'stopped', epoch, acquiredAt: at },
    budget: { ...empty.budget, spent: had.spent },
    family: { ...empty.family, parent },
    turns: had.turns,
    retention: { ...KEPT, going: cause, deleted: e },
  };
}
