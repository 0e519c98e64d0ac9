/**
 * Forks: a session that begins with the events of another one, up to a place in its log.
 *
 * F1  Nothing is done twice: open effects, decisions and timers stay with the original and are closed here as left. So are
 *     messages that had not been read: the original reads them, and its receipts are its own.
 * F2  A fork does nothing until somebody speaks to it. An open turn is ended. Code of the original that still waits hears
 *     that nothing will come, and may not act any more (`mayAct`).
 * F3  It is a session of its own: its leases, keys of messages and times begin anew.
 */

import { oneLine } from '../../lib/text.ts';
import { NOTHING_SPENT } from '../budget/budget.ts';
import { NO_CONVERSATION } from '../conversation/state.ts';
import { withdrawQuestions } from '../decision.ts';
import { LEFT, leaveOpen } from '../effect.ts';
import type { Event, EventOf, ForeignEvent, Stamp } from '../event.ts';
import { leaveChildren } from '../family/evolve.ts';
import { NO_FAMILY } from '../family/state.ts';
import type { Delivery, Pending } from '../heap/state.ts';
import type { CellId } from '../ids.ts';
import { leftKernel } from '../kernel/evolve.ts';
import { NEW_LIFETIME } from '../lifetime.ts';
import { NEW_RESIDENCE } from '../residency/state.ts';
import { KEPT } from '../retention/state.ts';
import { type Effect, openDecisions, pendingTimers, type State } from '../state.ts';
import { closeTurn, note } from '../turn.ts';

export function forked(s: State, e: EventOf<'session.forked'>): State {
  const { from, head, lineage, title } = e;
  const waits = withdrawQuestions(withoutWaiting(leaveOpen(leaveChildren(s), e), e), () => true);
  const ended = closeTurn({ ...waits, timers: [] }, 'interrupted', 'left with the original', e);
  const own: State = {
    ...ended,
    contract: { ...ended.contract, title, startedAt: e.at },
    lifetime: { ...NEW_LIFETIME, acquiredAt: e.at },
    residence: NEW_RESIDENCE,
    fork: { from, head, seq: e.seq, lineage, cells: ended.counters.cell },
    inbox: { unread: [], receipts: {} },
    loss: null,
    // Its limits are those of the original; what was spent there is not spent again.
    budget: { limits: e.budget ?? ended.budget.limits, spent: NOTHING_SPENT, exhausted: null },
    family: { ...NO_FAMILY, parent: e.parent ?? null },
    conversation: NO_CONVERSATION,
    retention: KEPT,
    // What the original did is told there; what was left with it is told here, once.
    toldSeq: e.seq - 1,
    heap: { ...ended.heap, opened: null, parked: true, cell: null, suspended: [] },
    context: { ...ended.context, compacting: null, calledAt: null },
    workspace: { ...ended.workspace, opened: null, parked: true, wanted: null, restored: null },
  };
  const told = s.inbox.unread.filter((message) => message.from === 'runtime');
  return note(
    told.reduce((state, { text, at, whole }) => note(state, text, at, whole), leftKernel(own, e)),
    account(s, e),
    e.at,
  );
}

/**
 * Where a session can be forked when `seq` is asked for: there, unless that is in the middle of a move of the heap. A
 * move and the calls that its code made belong together: the image holds their promises. Events up to `seq + 1` will do.
 */
export function cutAt(events: readonly (Event | ForeignEvent)[], seq: number): number {
  let cut = seq;
  while (cut > 0 && isOfMove(events[cut], events[cut - 1])) cut--;
  return cut;
}

function isOfMove(e: Event | ForeignEvent | undefined, before: Event | ForeignEvent | undefined): boolean {
  switch (e?.kind) {
    case 'effect.intended':
    case 'timer.set':
    case 'decision.requested':
    case 'progress.noted':
      return e.origin?.by === 'cell';
    case 'effect.refused':
      return isOfMove(before, undefined);
    default:
      return false;
  }
}

/**
 * Whether code whose call is being answered may call the host. Code of the original is refused once, so that it comes to
 * an end, and after that it is not answered any more: a loop that ignores each refusal would never rest (F2).
 */
export function mayAct(s: State, cell: CellId, answered: Delivery | null): 'granted' | 'refused' | 'unheard' {
  if (s.fork === null || Number(cell.slice(1)) > s.fork.cells) return 'granted';
  return answered !== null && answered.seq <= s.fork.seq ? 'refused' : 'unheard';
}

/** Why a call of such code is refused. */
export const REFUSED = {
  code: LEFT,
  message: 'Code from before the fork may not act here; the original goes on with it.',
} as const;

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

/** Timers and questions of code: their promises reject, like those of effects. */
function withoutWaiting(s: State, e: Stamp): State {
  const message = 'What it waits for stays with the original of this fork; it never comes here.';
  const json = JSON.stringify({ name: 'EffectError', code: LEFT, message });
  const pending = s.heap.pending.map((call): Pending => {
    if (call.on === 'note' || call.answer) return call;
    return { ...call, answer: { seq: e.seq, at: e.at, ok: false, json } };
  });
  return { ...s, heap: { ...s.heap, pending } };
}

/** What the model is told, and people with it. */
function account(s: State, e: EventOf<'session.forked'>): string {
  const { effects, family, heap, inbox } = s;
  const cells = [...heap.suspended, ...(heap.cell ? [heap.cell] : [])].map(({ id }) => id);
  const timerIds = pendingTimers(s).map(({ id }) => id);
  const unread = inbox.unread.filter(({ from }) => from === 'person');
  const parts = [
    listed('turn', s.turn ? [String(s.turn.number)] : []),
    listed('effects', effects.open.map(toldEffect)),
    listed(
      'decisions',
      openDecisions(s).map(({ id }) => id),
    ),
    listed('timers', timerIds),
    listed(
      'children',
      family.children.map(({ id }) => id),
    ),
    listed('cells', cells),
    listed(
      'messages not read',
      unread.map(({ id, text }) => `${id} "${oneLine(text, 80)}"`),
    ),
  ].filter((part) => part !== '');
  const left =
    parts.length === 0
      ? 'Nothing was in flight there.'
      : `What was in flight there stays there, and nothing that comes of it is known here: ${parts.join('; ')}. ` +
        'Do not do any of it again unless you are asked to.';
  return `This session is a fork of ${e.from} at ${e.head}, made by ${e.by}. ${left}`;
}

const toldEffect = ({ id, target, dispatch }: Effect): string =>
  `${id} (${target}, ${dispatch === null ? 'not sent by then' : 'sent'})`;

const listed = (what: string, names: readonly string[]): string =>
  names.length === 0 ? '' : `${what} ${names.join(', ')}`;
