/** What should be in flight of a compaction (D1 to D4 of compaction.ts): a part of `next`. Pure. */

import type { EventBody } from '../event.ts';
import { evolve } from '../evolve.ts';
import { call, choose, type Next, REST, wake } from '../flight.ts';
import type { State } from '../state.ts';
import { cutOf, digest, fault, isPressing, reasonFor, type Swap } from './compaction.ts';
import { isTooLarge } from './size.ts';

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
  if (why === null) return null;
  // Where nothing can leave, what stands for the past can still be shortened.
  const items = cutOf(s, why) ?? (isPressing(why) ? 0 : null);
  if (items === null) return null;
  if (why === 'cost') return { kind: 'compaction.started', items, why };
  // A model that reads all of a cold past to sum it up costs as much as going on with it, and what is too large for a step
  // is too large for that as well.
  const own = digest(s, items, why);
  return fault(s, own) === null || helps(s, own) ? own : null;
}

/** However little it makes smaller: a request can hold the view then. */
const helps = (s: State, own: Swap): boolean =>
  isPressing(own.why) &&
  own.tokensAfter < own.tokensBefore &&
  !isTooLarge(evolve(s, { ...own, seq: s.head + 1, at: s.at }));

/** No request can hold the view: it waits until the view is smaller (D3). */
export const isOverfull = (s: State): boolean => {
  const why = reasonFor(s);
  return why !== null && isPressing(why);
};

/** Overfull, and nothing in it can go. */
export const isStuck = (s: State): boolean =>
  isOverfull(s) && s.context.compacting === null && beginning(s) === null;
