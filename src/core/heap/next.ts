/** What should be in flight between a session and its heap: a part of `next`. Pure. */

import { call, choose, type Next, REST } from '../flight.ts';
import { sleeps } from '../residency/next.ts';
import type { State } from '../state.ts';
import { nextDelivery } from './evolve.ts';

export function heap(s: State, now: number): Next {
  if (mustOpen(s, now)) return call({ do: 'open' });
  const delivery = nextDelivery(s.heap.pending);
  if (delivery) {
    const { guestCall, cell } = delivery;
    return call({ do: 'deliver', guestCall, cell });
  }
  if (s.heap.cell && !s.heap.cell.committed) {
    return call({ do: 'run', cell: s.heap.cell.id });
  }
  if (s.heap.cell && s.heap.pending.length === 0) {
    return choose({ kind: 'cell.aborted', cell: s.heap.cell.id, reason: 'stuck', message: '', output: '' });
  }
  return REST;
}

/** Whether the heap has to be in memory before anything else may happen with it. */
export function mustOpen(s: State, now: number): boolean {
  if (s.heap.opened === s.lifetime.epoch) return false;
  const waiting = (s.heap.cell && !s.heap.cell.committed) || nextDelivery(s.heap.pending) !== null;
  if (waiting) return true;
  // With a turn open the heap is looked at first: the model must hear what was lost before it speaks.
  return s.turn !== null && !sleeps(s, now) && s.heap.chain !== null;
}
