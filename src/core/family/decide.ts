/** What one session of a tree brings to another one. Pure; inputs, like those of ../decide.ts. */

import { type OutlastError, refusal } from '../error.ts';
import type { EventBody } from '../event.ts';
import type { SessionId } from '../ids.ts';
import { refuseForeign, refuseStopped } from '../lifetime.ts';
import { isGone } from '../retention/gone.ts';
import type { State } from '../state.ts';
import { newsOf } from './evolve.ts';
import { descendants, type Told } from './state.ts';

/** What a child tells; what is known already changes nothing. In every state: what has come to be is taken in. */
export function hear(s: State, told: Told): readonly EventBody[] {
  if (isGone(s)) return [];
  refuseForeign(s);
  const news = newsOf(s, told);
  return news === null ? [] : [{ kind: 'child.reported', ...news }];
}

/** Another session below this one, the root of its tree. Counted again it counts once. */
export function countDescendant(s: State, child: SessionId): readonly EventBody[] {
  refuseStopped(s);
  if (s.family.descendants.includes(child)) return [];
  const full = noRoom(s);
  if (full) throw full;
  return [{ kind: 'descendant.counted', child }];
}

/** Why no further session may come below this root; null when one may. */
export function noRoom(s: State): OutlastError | null {
  const { childrenTotal } = s.contract.limits;
  if (descendants(s) < childrenTotal) return null;
  return refusal(
    'children.total',
    `All ${childrenTotal} sessions that may come of this one have been started.`,
    'do it yourself, or go on with a child that is there',
  );
}
