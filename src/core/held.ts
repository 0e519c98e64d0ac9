/** What may be sent, and what waits since nobody knows whether the like of it has happened. Pure; part of `next`. */

import { mayPass } from './approval.ts';
import { writes } from './capability.ts';
import { childInTheWay, isLike } from './family/state.ts';
import { type Effect, isUnknown, type State } from './state.ts';

export const mayDispatch = (s: State, effect: Effect): boolean =>
  s.lifetime.status === 'open' && mayPass(effect) && !isHeld(s, effect);

/** Behind an unknown effect of this session, or of one below it. */
const isHeld = (s: State, effect: Effect): boolean =>
  heldBy(s, effect) !== undefined || childInTheWay(s, effect) !== undefined;

/** The unknown effect that this one has to wait for. */
export function heldBy(s: State, effect: Effect): Effect | undefined {
  if (!writes(effect.capability)) return undefined;
  return s.effects.open.find(
    (other) =>
      other.id !== effect.id &&
      writes(other.capability) &&
      isUnknown(other, s.lifetime.epoch) &&
      isLike(other, effect),
  );
}
