/**
 * The kernel as the log knows it: what lives in a process outside of this one, and what was lost of it.
 *
 * N1  Names are known from the commit of the call that bound them. So after any loss, of a process, a worker or a machine,
 *     it can be said by name what is gone, and with which code it was made.
 * N2  Whoever takes the lease looks at the kernel before a model speaks that may count on it.
 */

import type { EventOf, Stamp } from '../event.ts';
import type { Kernel, State } from '../state.ts';
import { objectsLost } from './loss.ts';

export const NO_KERNEL: Kernel = { live: [], process: 0, generation: 1, attended: null, lost: [], lostAt: 0 };

export function noted(s: State, e: EventOf<'kernel.noted'>): State {
  const { epoch, process, set, gone, lost } = e;
  const left = new Set([...gone, ...[...set, ...lost].map(({ name }) => name)]);
  const kernel: Kernel = {
    live: [...s.kernel.live.filter(({ name }) => !left.has(name)), ...set],
    process,
    generation: s.kernel.generation + (lost.length > 0 ? 1 : 0),
    attended: epoch,
    ...(lost.length > 0 ? { lost, lostAt: e.at } : { lost: s.kernel.lost, lostAt: s.kernel.lostAt }),
  };
  const next = { ...s, kernel };
  return lost.length > 0 ? objectsLost(next, e) : next;
}

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
