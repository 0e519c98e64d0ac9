/** What happens beside the run: another client acts on the same store, without a lease, or the surroundings change. */

import * as decide from '../../core/decide.ts';
import { OutlastError } from '../../core/error.ts';
import type { DecisionAnswer, Event, EventBody } from '../../core/event.ts';
import { evolve } from '../../core/evolve.ts';
import type { When } from '../../core/message.ts';
import type { Decision, State } from '../../core/state.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Person } from './person.ts';

export type Meanwhile =
  | { readonly do: 'send'; readonly messages: readonly Note[] }
  | { readonly do: 'stop' | 'interrupt' | 'pause' | 'decide' }
  /** Somebody forks it. */
  | { readonly do: 'fork' }
  | { readonly do: 'jump'; readonly ms: number }
  /** The store takes nothing for a while. */
  | { readonly do: 'outage'; readonly ms: number };

export interface Note {
  readonly text: string;
  readonly when: When;
}

/** What another client does. */
export type OfAnother = Exclude<Meanwhile, { do: 'jump' | 'outage' | 'fork' }>;

/** What a person who can look into the books answers. */
export type Truth = (
  decision: Decision,
  s: State,
) => { readonly answer: DecisionAnswer; readonly text: string };

/** What another client's act appends; nothing where the state takes no such act. */
export function commandOf(s: State, act: OfAnother, person: Person, now: number): readonly EventBody[] {
  switch (act.do) {
    case 'send':
      return act.messages.reduce(sent, { state: s, events: [] as readonly EventBody[] }).events;
    case 'stop':
      return decide.stop(s, 'bob');
    case 'pause':
      return decide.pause(s, 'bob');
    case 'interrupt':
      return s.turn ? decide.interrupt(s, 'bob') : [];
    case 'decide': {
      const open = person.takesUp(s);
      return open ? decided(s, open, person, now) : [];
    }
    default:
      return unreachable(act);
  }
}

/** Nobody may have noticed yet that its time is over; then it is refused, as it should be. */
function decided(s: State, open: Decision, { truth }: Person, now: number): readonly EventBody[] {
  try {
    return decide.answer(s, open.id, { ...truth(open, s), by: 'bob' }, now);
  } catch (error) {
    if (error instanceof OutlastError && error.code === 'decision.expired') return [];
    throw error;
  }
}

export const isUrgent = ({ messages }: Extract<Meanwhile, { do: 'send' }>): boolean =>
  messages.some(({ when }) => when === 'now');

/** One more message of another client, decided on the state that the ones before it leave. */
function sent(
  { state, events }: { state: State; events: readonly EventBody[] },
  { text, when }: Note,
  index: number,
): { state: State; events: readonly EventBody[] } {
  const one = decide.send(state, text, { key: `meanwhile-${index}`, when });
  const more = 'events' in one ? one.events : [];
  const after = more.reduce((s, body) => evolve(s, { ...body, seq: s.head + 1, at: s.at } as Event), state);
  return { state: after, events: [...events, ...more] };
}
