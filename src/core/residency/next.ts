/**
 * What is done for a session that rests: a new base where the deltas have outgrown the old one, and parking. Pure; part
 * of `next`, so it needs no timer that a restart could lose: `Summary.dueAt` carries the instant of parking, and a
 * session whose worker died before is parked by the next one.
 *
 * U1  A base at rest is taken where the next cell would have to take it in the turn's way, and only of a heap that is
 *     open: nothing is opened to be written again.
 * U2  A session is parked once, when the policy says so (policy.ts), counted from its last event that was more than
 *     upkeep. Then it costs nothing until something comes in: no memory, no lease, no look of the sweeper but one: where it
 *     has images, it is archived after a far longer rest. One that never had a heap or a file is never due.
 * U3  What keeps a kernel in memory is given up only when a notice about this rest is over; what came in between begins
 *     another rest, and that needs a notice of its own. That it is over is a choice, on the very head: a message that stands
 *     before it has prevented it.
 */

import { call, choose, type Next, REST, wake } from '../flight.ts';
import { headImage, type ImageChain } from '../heap/state.ts';
import { standingNotice } from '../kernel/evolve.ts';
import type { State } from '../state.ts';
import { archiveAfterMs, keptOf, parkAfterMs } from './policy.ts';

/** Of the same size as the sandbox's own bound, so that it is met here first. */
const OUTGROWN_SHARE = 1 / 2;
/** Below this a base is so small that it would be taken every other turn. */
const OUTGROWN_BYTES = 32 * 1024;
const OUTGROWN_DELTAS = 64;

/** A base costs the whole heap in the store, a delta at waking the reading of one blob, some 0.3 ms. */
const WORTH_SHARE = 1 / 8;
const WORTH_DELTAS = 16;

export function upkeep(s: State, now: number): Next {
  if (s.foreign.length > 0 || s.lifetime.quarantine !== null) return REST;
  const notice = standingNotice(s);
  if (notice !== null && s.heap.parked && s.workspace.parked) {
    const { since, until, isOver } = notice;
    if (isOver) return call({ do: 'giveUp', since });
    return now < until ? wake(until) : choose({ kind: 'kernel.released', since });
  }
  const isParked = s.heap.parked && s.workspace.parked && s.kernel.notice === null;
  if (isParked) return archiving(s, now);
  const due = parkingAt(s);
  if (now >= due) return call({ do: 'park', since: s.activeAt });
  const { chain, opened } = s.heap;
  if (chain === null || opened !== s.lifetime.epoch || !isOutgrown(chain)) return wake(due);
  return { ...call({ do: 'base', of: headImage(chain).digest }), wakeAt: due };
}

/** When a session is parked, if nothing comes in before. */
export const parkingAt = (s: State): number => s.activeAt + parkAfterMs(keptOf(s));

/** A turn that waits for so long that it is parked opens nothing until it goes on. */
export function sleeps(s: State, now: number): boolean {
  const rests = s.turn?.step.phase === 'acting' || s.budget.exhausted !== null;
  return rests && (s.heap.parked || now >= parkingAt(s));
}

/** Without images there is nothing to fold. What is stopped is folded as well: it may be opened again. */
function archiving(s: State, now: number): Next {
  if (s.heap.chain === null || s.residence.archivedSince === s.activeAt) return REST;
  const due = s.activeAt + archiveAfterMs(keptOf(s));
  return now < due ? wake(due) : call({ do: 'archive', since: s.activeAt });
}

/** Whether a session that is parked wakes so much faster from a new base that it is worth the writing. */
export function isWorthBasing({ base, deltas }: ImageChain): boolean {
  return deltas.length >= WORTH_DELTAS || bytesOf(deltas) > base.bytes * WORTH_SHARE;
}

function isOutgrown({ base, deltas }: ImageChain): boolean {
  const bytes = bytesOf(deltas);
  return deltas.length >= OUTGROWN_DELTAS || bytes > Math.max(OUTGROWN_BYTES, base.bytes * OUTGROWN_SHARE);
}

const bytesOf = (deltas: ImageChain['deltas']): number => deltas.reduce((sum, { bytes }) => sum + bytes, 0);
