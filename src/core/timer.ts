/**
 * Timers: instants in the log. One that a call of the model waits for stands in `State.timers`; one of guest code stands
 * with the heap, among what the guest waits for.
 *
 * K1  A timer fires once, however late, and whatever came in before it.
 */

import type { EventOf } from './event.ts';
import { guestTimerFired, guestTimerSet } from './heap/evolve.ts';
import { reportToSelf } from './inbox.ts';
import type { State } from './state.ts';
import { answerCall, runCall } from './turn.ts';

export function set(s: State, e: EventOf<'timer.set'>): State {
  const { timer: id, origin, due } = e;
  const counted = { ...s, counters: { ...s.counters, timer: s.counters.timer + 1 } };
  if (origin.by === 'cell') return guestTimerSet(counted, { ...origin, timer: id, due });
  const { call } = origin;
  const timers = [...counted.timers, { id, call, turn: s.turns, setAt: e.at, due, isSuspended: false }];
  return runCall({ ...counted, timers }, call, { kind: 'timer', timer: id });
}

export function fired(s: State, e: EventOf<'timer.fired'>): State {
  const timer = s.timers.find(({ id }) => id === e.timer);
  if (!timer) return guestTimerFired(s, e);
  const rest = { ...s, timers: s.timers.filter(({ id }) => id !== e.timer) };
  const due = new Date(timer.due).toISOString();
  if (timer.isSuspended) return reportToSelf(rest, timer.id, `Timer ${timer.id}: it is ${due}.`, e.at);
  const seconds = Math.round((e.at - timer.setAt) / 1_000);
  return answerCall(rest, timer.call, { status: 'done', text: `Slept ${seconds} s, until ${due}.` });
}
