/**
 * Residence: how often and how soon people came back, whether it is archived, and how it woke.
 *
 * N1  Archived is what has been at rest ever since: any event that is more than upkeep ends it, and nothing has to say so.
 */

import type { EventOf } from '../event.ts';
import { restsAt } from '../residency.ts';
import type { Residence, State } from '../state.ts';

export const NEW_RESIDENCE: Residence = { followUps: 0, gapMs: null, archivedSince: null, woke: null };

/** Whether a message wakes it: nothing of it was under way. */
export const isFollowUp = (s: State): boolean =>
  s.turns > 0 && s.turn === null && s.inbox.unread.length === 0;

/** With the state before the message. */
export function followed(s: State, e: EventOf<'message.accepted'>): State {
  if (!isFollowUp(s)) return s;
  const { followUps } = s.residence;
  const woke = { from: e.woke ?? restsAt(s), at: e.at, ms: null };
  return { ...s, residence: { ...s.residence, followUps: followUps + 1, gapMs: e.at - s.activeAt, woke } };
}

/** Its heap is there, or there is none and its first step begins. */
export function awake(s: State, at: number): State {
  const { woke } = s.residence;
  return woke?.ms === null ? { ...s, residence: { ...s.residence, woke: { ...woke, ms: at - woke.at } } } : s;
}

export const archived = (s: State, e: EventOf<'session.archived'>): State => ({
  ...s,
  residence: { ...s.residence, archivedSince: e.since },
});
