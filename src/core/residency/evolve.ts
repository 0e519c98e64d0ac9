/**
 * Residence: how often and how soon people came back, whether it is archived, and how it woke.
 *
 * N1  Archived is what has been at rest ever since: any event that is more than upkeep ends it, and nothing has to say so.
 */

import type { EventOf } from '../event.ts';
import type { State } from '../state.ts';
import { costOf, keptOf, restsAt } from './policy.ts';

/** Whether a message wakes it: nothing of it was under way. */
export const isFollowUp = (s: State): boolean =>
  s.turns > 0 && s.turn === null && s.inbox.unread.length === 0;

/** With the state before the message. */
export function followed(s: State, e: EventOf<'message.accepted'>): State {
  if (!isFollowUp(s)) return s;
  const { residence } = s;
  const isEarly = !s.contract.persist && s.lastTurn?.end === 'surfaced';
  return {
    ...s,
    residence: {
      ...residence,
      followUps: residence.followUps + 1,
      gapMs: e.at - s.activeAt,
      woke: { from: e.woke ?? restsAt(s), at: e.at, ms: null, isEarly, isRead: false },
      tooEarly: isEarly ? { ...residence.tooEarly, times: residence.tooEarly.times + 1 } : residence.tooEarly,
    },
  };
}

/** Its heap is there, or there is none and its first step begins. */
export function awake(s: State, at: number): State {
  const { woke, tooEarly } = s.residence;
  if (woke?.ms !== null) return s;
  const ms = at - woke.at;
  return {
    ...s,
    residence: {
      ...s.residence,
      woke: { ...woke, ms },
      tooEarly: woke.isEarly ? { ...tooEarly, ms: tooEarly.ms + ms } : tooEarly,
    },
  };
}

/** The first reply after a wake: what of its request was not in a cache was read again. */
export function readAgain(s: State, { usage }: EventOf<'model.completed'>): State {
  const { woke, tooEarly } = s.residence;
  if (!woke || woke.isRead) return s;
  const tokens = tooEarly.tokens + Math.max(0, usage.inputTokens - usage.cachedTokens);
  return {
    ...s,
    residence: {
      ...s.residence,
      woke: { ...woke, isRead: true },
      tooEarly: woke.isEarly ? { ...tooEarly, tokens } : tooEarly,
    },
  };
}

/** With the state before it was parked. */
export function held(s: State, at: number): State {
  if (s.heap.chain === null || s.heap.parked) return s;
  const minutes = (at - s.activeAt) / 60_000;
  const heldMbMinutes = s.residence.heldMbMinutes + minutes * costOf(keptOf(s)).heldMb;
  return { ...s, residence: { ...s.residence, heldMbMinutes } };
}

export const archived = (s: State, e: EventOf<'session.archived'>): State => ({
  ...s,
  residence: { ...s.residence, archivedSince: e.since },
});
