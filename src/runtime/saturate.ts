/**
 * Facts, and every choice that follows from them on the same head, as the events of one commit. So an intention and
 * its dispatch mark share a commit when nothing has to wait between them, without any special case.
 */

import type { Event, EventBody } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { next } from '../core/next.ts';
import type { State } from '../core/state.ts';
import { assert } from '../lib/assert.ts';
import { type Planner, planCall } from './plan.ts';

export interface Saturated {
  readonly events: readonly Event[];
  readonly state: State;
}

/** With no planner the facts stand alone: a holder that is about to let go chooses nothing any more. */
export function saturate(
  s: State,
  facts: readonly EventBody[],
  now: number,
  planner: Planner | null,
): Saturated {
  const at = Math.max(now, s.at);
  const events: Event[] = [];
  let state = s;
  const append = (bodies: readonly EventBody[]): void => {
    for (const body of bodies) {
      const event = { ...body, seq: state.head + 1, at } as Event;
      events.push(event);
      state = evolve(state, event);
    }
  };
  append(facts);
  if (!planner) return { events, state };
  for (let round = 0; ; round++) {
    assert(round < 10_000, 'choices come to an end');
    const { choices, calls } = next(state, at);
    if (choices.length > 0) {
      append(choices);
      continue;
    }
    const plan = calls.find((call) => call.do === 'plan');
    if (!plan) return { events, state };
    append(planCall(state, plan.call, planner));
  }
}
