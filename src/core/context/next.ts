/** What should be in flight of a compaction (D1 to D4 of compaction.ts): a part of `next`. Pure. */

import type { EventBody } from '../event.ts';
import { call, choose, type Next, REST, wake } from '../flight.ts';
import type { State } from '../state.ts';
import { cutOf, digest, fault, isPressing, reasonFor } from './compaction.ts';

/** What should be in flight of a compaction, beside all else. */
export function compaction(s: State, now: number): Next {
  const { compacting } = s.context;
  if (compacting) {
    if (s.budget.exhausted !== null) return REST;
    if (compacting.notBefore > now) return wake(compacting.notBefore);
    const { items, attempt } = compacting;
    return call({ do: 'compact', items, attempt });
  }
  const begun = beginning(s);
  return begun === null ? REST : choose(begun);
}

/** How a compaction begins, where one is wanted and possible. */
function beginning(s: State): EventBody | null {
  const why = reasonFor(s);
  const items = why === null ? null : cutOf(s, why);
  if (why === null || items === null) return null;
  if (why === 'cost') return { kind: 'compaction.started', items, why };
  // A model that reads all of a cold past to sum it up costs as much as going on with it, and what is too large for a step
  // is too large for that as well.
  const own = digest(s, items, why);
  return fault(s, own) === null ? own : null;
}

/** No request can hold the view: it waits until the view is smaller (D3). */
export const isOverfull = (s: State): boolean => {
  const why = reasonFor(s);
  return why !== null && isPressing(why);
};

/** Overfull, and nothing in it can go. */
export const isStuck = (s: State): boolean =>
  isOverfull(s) && s.context.compacting === null && beginning(s) === null;
