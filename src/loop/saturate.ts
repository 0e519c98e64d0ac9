/**
 * Facts, and every choice that follows from them on the same head, as the events of one commit. So an intention and
 * its dispatch mark share a commit when nothing has to wait between them, without any special case.
 */

import type { Event, EventBody } from '../core/event.ts';
import { append } from '../core/evolve.ts';
import { next } from '../core/next.ts';
import { asQueued } from '../core/slot.ts';
import type { State } from '../core/state.ts';
import { assert } from '../lib/assert.ts';
import { type Planner, planCall } from './plan.ts';

export interface Saturated {
  readonly events: readonly Event[];
  readonly state: State;
}

/**
 * `all`: whatever follows. `clearing`: only what takes no slot. `nothing`: the facts stand alone; a holder that is about to
 * let go chooses nothing any more.
 */
export type Choosing = 'all' | 'clearing' | 'nothing';

export function saturate(
  s: State,
  facts: readonly EventBody[],
  now: number,
  planner: Planner,
  choosing: Choosing,
): Saturated {
  const events: Event[] = [];
  let state = s;
  const take = (bodies: readonly EventBody[]): void => {
    const taken = append(state, bodies, now);
    events.push(...taken.events);
    state = taken.state;
  };
  take(facts);
  if (choosing === 'nothing') return { events, state };
  for (let round = 0; ; round++) {
    assert(round < 10_000, 'choices come to an end');
    const seen = choosing === 'all' ? state : asQueued(state);
    const { choices, calls } = next(seen, Math.max(now, s.at));
    const plan = calls.find((call) => call.do === 'plan');
    if (choices.length > 0) take(choices);
    else if (plan) take(planCall(state, plan.call, planner));
    else return { events, state };
  }
}
