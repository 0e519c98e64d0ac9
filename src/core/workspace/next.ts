/** What should be in flight between a session and its files: a part of `next`. Pure. */

import { call, type Next, REST } from '../flight.ts';
import { mayDispatch } from '../held.ts';
import { sleeps } from '../residency/next.ts';
import { resolve } from '../resolve.ts';
import { type Effect, isUnknown, type State } from '../state.ts';
import { isInFiles } from './evolve.ts';

/** Before a model speaks it must hear what became of the files; and what somebody wants there need not wait for a turn. */
export function files(s: State, now: number): Next {
  return !isInHand(s) && (s.workspace.wanted !== null || mustCheckOut(s, now)) ? checkout(s) : REST;
}

export const isCheckedOut = ({ workspace, lifetime }: State): boolean =>
  workspace.opened === lifetime.epoch && workspace.wanted === null;

export function mustCheckOut(s: State, now: number): boolean {
  if (isCheckedOut(s) || s.turn === null || sleeps(s, now)) return false;
  return s.workspace.tree !== null || s.workspace.wanted !== null || s.effects.open.some(isInFiles);
}

export const checkout = (s: State): Next => call({ do: 'checkout', wanted: s.workspace.wanted?.seq ?? 0 });

export const isInHand = (s: State): boolean =>
  s.effects.open.some((effect) => isInFlight(effect, s.lifetime.epoch));

const isInFlight = (effect: Effect, epoch: number): boolean =>
  effect.files === 'changes' && effect.status === 'dispatched' && !isUnknown(effect, epoch);

/** One hand on the files at a time, in the order of the calls. */
export function mustWaitForFiles(s: State, effect: Effect, now: number): boolean {
  const at = s.effects.open.indexOf(effect);
  return s.effects.open.some((other, i) => {
    if (other === effect || other.files !== 'changes') return false;
    if (isInFlight(other, s.lifetime.epoch)) return true;
    if (i > at) return false;
    if (other.status === 'intended') return mayDispatch(s, other);
    return isUnknown(other, s.lifetime.epoch) && resolve(s, other, now).do === 'redispatch';
  });
}
