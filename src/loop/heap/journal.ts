/**
 * The heap's journal, read out of the log: which inputs moved the heap that stands, in which order, and where it was
 * restored. Aborted cells are not in it, since the heap went back to before them.
 */

import type { Event, ForeignEvent } from '../../core/event.ts';
import { evolve, initialState } from '../../core/evolve.ts';
import { nextDelivery } from '../../core/heap/evolve.ts';
import type { RunningCell } from '../../core/heap/state.ts';
import type { State } from '../../core/state.ts';
import { assert } from '../../lib/assert.ts';
import type { HeapInput, JournalEntry } from '../../sandbox/port.ts';

/** The journal of the heap that `events` end in. */
export function journalOf(events: Iterable<Event | ForeignEvent>): readonly JournalEntry[] {
  let state = initialState;
  const entries: JournalEntry[] = [];
  /** How long the journal was when the running cell was started: what an abort goes back to. */
  let mark = 0;
  for (const event of events) {
    const after = evolve(state, event);
    if (event.kind === 'cell.started') mark = entries.length;
    if (event.kind === 'cell.committed') {
      const { seq, image } = event;
      entries.push({ kind: 'apply', seq, digest: image.digest, input: inputOf(state, event) });
    }
    if (event.kind === 'heap.restored') {
      if (event.rung === 'fresh') entries.length = 0;
      else if (event.rung !== 'attached') entries.push({ kind: 'restored', seq: event.seq });
    }
    if (wentBack(state.heap.cell, after, event)) entries.length = mark;
    state = after;
  }
  return entries;
}

/** The input that the state before asks to apply: a cell, or the settlement that is next in the log's order. */
export function inputOf(
  s: State,
  committed: {
    readonly moved: { readonly by: 'run' } | { readonly by: 'delivery'; readonly guestCall: number };
  },
): HeapInput {
  if (committed.moved.by === 'run') {
    const { cell } = s.heap;
    assert(cell, 'a cell that was run had been started');
    return { kind: 'run', cell: cell.id, code: cell.code, at: cell.startedAt };
  }
  const delivery = nextDelivery(s.heap.pending);
  assert(delivery?.guestCall === committed.moved.guestCall, 'settlements enter in the order of the log');
  const { seq: _seq, ...answer } = delivery.answer;
  return { kind: 'delivery', guestCall: delivery.guestCall, ...answer };
}

function wentBack(running: RunningCell | null, after: State, event: Event | ForeignEvent): boolean {
  return (
    running !== null &&
    !running.isMixed &&
    after.heap.cell === null &&
    (event.kind === 'cell.aborted' || event.kind === 'turn.interrupted' || event.kind === 'session.stopping')
  );
}
