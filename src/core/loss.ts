/**
 * Losses: when a worker was lost, and what was under way then. Everything else that a report needs stands in the other
 * slices; this is what nobody could know any more once recovery has moved on.
 *
 * O1  A loss is a takeover from a holder that did not let go by itself, or a heap or files that could not be brought back
 *     as they were.
 * O2  Losses add up until the model has read of them: a crash during recovery hides nothing of the crash before it.
 */

import type { EventOf, Stamp } from './event.ts';
import type { Loss, State } from './state.ts';

/** `before`: the state as the lost worker left it. */
export function workerLost(before: State, s: State, e: EventOf<'lease.acquired'>): State {
  // The first lease of a session has no holder before it, and a fork has none of its own.
  return e.clean || e.epoch === 1 ? s : { ...s, loss: joined(before, e) };
}

/** Live objects, or files, came back otherwise than they were: the model has to read what became of them. */
export function objectsLost(s: State, e: Stamp): State {
  return { ...s, loss: { ...joined(s, e), at: s.loss?.at ?? e.at } };
}

/** The model has answered a request that told it. */
export function told(s: State): State {
  return s.loss === null || s.loss.isTold ? s : { ...s, loss: { ...s.loss, isTold: true } };
}

function joined(s: State, e: Stamp): Loss {
  const untold = s.loss !== null && !s.loss.isTold ? s.loss : null;
  const sent = s.effects.open.filter(({ dispatch }) => dispatch !== null).map(({ id }) => id);
  const generating = s.turn?.step.phase === 'generating' ? s.turn.step.number : null;
  const { compacting } = s.context;
  return {
    count: (s.loss?.count ?? 0) + 1,
    at: e.at,
    head: untold?.head ?? s.head,
    lastAt: untold?.lastAt ?? s.at,
    step: generating ?? untold?.step ?? null,
    cell: (s.heap.cell && !s.heap.cell.committed ? s.heap.cell.id : null) ?? untold?.cell ?? null,
    effects: [...new Set([...(untold?.effects ?? []), ...sent])],
    compacting: (compacting !== null && compacting.notBefore <= e.at) || untold?.compacting === true,
    isTold: false,
  };
}
