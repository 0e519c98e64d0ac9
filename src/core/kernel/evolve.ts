/**
 * The kernel as the log knows it: what lives in a process outside of this one, and what was lost of it.
 *
 * N1  Names are known from the commit of the call that bound them. So after any loss, of a process, a worker or a machine,
 *     it can be said by name what is gone, and with which code it was made.
 * N2  Whoever takes the lease looks at the kernel before a model speaks that may count on it.
 * N3  Nothing is given up without a notice that stands in the log and is about this very rest: whatever comes in withdraws it.
 */

import type { EventOf, Stamp } from '../event.ts';
import { objectsLost } from '../loss.ts';
import type { State } from '../state.ts';
import type { KernelLost } from './event.ts';
import { type Kernel, NO_KERNEL } from './state.ts';

export function noted(s: State, e: EventOf<'kernel.noted'>): State {
  const { epoch, process, set, gone, lost } = e;
  const left = new Set([...gone, ...[...set, ...lost].map(({ name }) => name)]);
  const kernel: Kernel = {
    live: [...s.kernel.live.filter(({ name }) => !left.has(name)), ...set],
    process,
    generation: s.kernel.generation + (lost.length > 0 ? 1 : 0),
    attended: epoch,
    ...(lost.length > 0 ? { lost, lostAt: e.at } : { lost: s.kernel.lost, lostAt: s.kernel.lostAt }),
    notice: stillAbout(s.kernel.notice, new Set([...gone, ...lost.map(({ name }) => name)])),
    gone: goneOf(s, lost),
  };
  const next = { ...s, kernel };
  return lost.length > 0 ? objectsLost(next, e) : next;
}

/** Names that are gone anyway need no notice any more. */
function stillAbout(notice: Kernel['notice'], gone: ReadonlySet<string>): Kernel['notice'] {
  const unsaved = notice?.unsaved.filter(({ name }) => !gone.has(name)) ?? [];
  return notice === null || unsaved.length === 0 ? null : { ...notice, unsaved };
}

/** What was named before it was lost: in that very rest, or when its time was over already. */
function goneOf({ kernel: { notice, gone }, activeAt }: State, lost: readonly KernelLost[]): Kernel['gone'] {
  if (notice === null || !(notice.isOver || notice.since === activeAt)) return gone;
  const names = new Set(notice.unsaved.map(({ name }) => name));
  const went = lost.filter(({ name }) => names.has(name));
  if (went.length === 0) return gone;
  const before = gone?.since === notice.since ? gone.unsaved : [];
  return { since: notice.since, until: notice.until, unsaved: [...before, ...went] };
}

export function noticed(s: State, { since, until, unsaved }: EventOf<'kernel.noticed'>): State {
  const notice = unsaved.length === 0 ? null : { since, until, unsaved, isOver: false };
  return { ...s, kernel: { ...s.kernel, notice } };
}

export function released(s: State, _e: EventOf<'kernel.released'>): State {
  const { notice } = s.kernel;
  return notice === null ? s : { ...s, kernel: { ...s.kernel, notice: { ...notice, isOver: true } } };
}

export const unnoticed = (s: State): State => ({ ...s, kernel: { ...s.kernel, notice: null } });

/** N3. */
export const standingNotice = ({ kernel: { notice }, activeAt }: State): Kernel['notice'] =>
  notice?.since === activeAt ? notice : null;

/** N2. */
export const mustAttend = ({ kernel, lifetime }: State): boolean =>
  kernel.live.length > 0 && kernel.attended !== lifetime.epoch;

/** A fork has no kernel: the process is the original's. */
export function leftKernel(s: State, e: Stamp): State {
  const { live, generation } = s.kernel;
  if (live.length === 0) return { ...s, kernel: NO_KERNEL };
  const lost = live.map((one) => ({ ...one, why: 'it stays with the original of this fork' }));
  return objectsLost({ ...s, kernel: { ...NO_KERNEL, generation: generation + 1, lost, lostAt: e.at } }, e);
}
