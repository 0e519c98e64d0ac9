/**
 * Slots count work. What takes one is all that costs: model calls, effects, code, a look at files. What takes none is
 * clearing up what was sent, hearing a person out, stopping, and what is done for a session that rests. Pure.
 *
 * W1  A session takes its slot before it begins anything that costs, and waiting for it is no reason to refuse a message.
 * W2  A conversation takes none: it only talks, and whoever talks to it is not to wait until its tasks are done.
 */

import { isConversation } from './conversation/state.ts';
import { work } from './next.ts';
import type { State } from './state.ts';

/** Whether it has anything to do now that takes a slot, whoever has one. */
export function needsSlot(s: State, now: number): boolean {
  const { status } = s.lifetime;
  if (status !== 'open' && status !== 'queued') return false;
  const free = work(asQueued(s), now);
  const all = work(status === 'open' ? s : { ...s, lifetime: { ...s.lifetime, status: 'open' } }, now);
  return all.choices.length + all.calls.length > free.choices.length + free.calls.length;
}

/** As it is to whoever has no slot: nothing that costs is begun. */
export const asQueued = (s: State): State =>
  s.lifetime.status === 'open' && !isConversation(s)
    ? { ...s, lifetime: { ...s.lifetime, status: 'queued' } }
    : s;
