/** What should be in flight between a session and its kernel: a part of `next`. Pure. */

import { call, type Next, REST } from '../flight.ts';
import { sleeps } from '../residency/next.ts';
import type { State } from '../state.ts';
import { mustAttend } from './evolve.ts';

/** Before a model speaks it must hear what became of the objects that lived there. */
export const kernel = (s: State, now: number): Next => (mustHear(s, now) ? call({ do: 'attend' }) : REST);

export const mustHear = (s: State, now: number): boolean =>
  s.turn !== null && !sleeps(s, now) && mustAttend(s);
