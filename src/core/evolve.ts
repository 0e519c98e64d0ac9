/**
 * The fold: `state' = evolve(state, event)`. Pure, synchronous, total over the known kinds.
 *
 * Each concern's transitions live in its slice; this file is the list of them.
 */

import { unreachable } from '../lib/assert.ts';
import { NO_BUDGETS, NOTHING_SPENT } from './budget.ts';
import type { Event, ForeignEvent } from './event.ts';
import { DEFAULT_LIMITS } from './event.ts';
import { noCounters, type Owner } from './ids.ts';
import * as budget from './slices/budget.ts';
import * as decision from './slices/decision.ts';
import * as effect from './slices/effect.ts';
import * as fork from './slices/fork.ts';
import * as heap from './slices/heap.ts';
import * as inbox from './slices/inbox.ts';
import * as lifetime from './slices/lifetime.ts';
import * as timer from './slices/timer.ts';
import * as turn from './slices/turn.ts';
import type { State } from './state.ts';

export const initialState: State = {
  head: 0,
  at: 0,
  activeAt: 0,
  counters: noCounters,
  contract: {
    owner: 'nobody' as Owner,
    persist: false,
    objective: '',
    title: '',
    model: '',
    tools: [],
    limits: DEFAULT_LIMITS,
    seed: 0,
    startedAt: 0,
  },
  budget: { limits: NO_BUDGETS, spent: NOTHING_SPENT, exhausted: null },
  lifetime: { status: 'open', stoppingAt: null, quarantine: null, epoch: 0, acquiredAt: 0, crashes: 0 },
  fork: null,
  inbox: { unread: [], receipts: {} },
  turn: null,
  turns: 0,
  lastTurn: null,
  transcript: [],
  withheld: [],
  effects: { open: [], closed: [] },
  heap: {
    chain: null,
    opened: null,
    parked: true,
    cell: null,
    suspended: [],
    pending: [],
    live: [],
    generation: 1,
    restored: null,
  },
  decisions: [],
  toldSeq: 0,
  loss: null,
  timers: [],
  foreign: [],
};

export function evolve(state: State, event: Event | ForeignEvent): State {
  const next = transition(state, event);
  const activeAt = UPKEEP.has(event.kind) ? state.activeAt : event.at;
  return { ...next, head: event.seq, at: event.at, activeAt };
}

/** What happens to a session that rests does not end its rest: else nothing would ever be parked. */
const UPKEEP: ReadonlySet<string> = new Set(['lease.acquired', 'heap.based', 'session.parked']);

/** The state after `events`, on top of `state`. */
export function fold(events: Iterable<Event | ForeignEvent>, state: State = initialState): State {
  let folded = state;
  for (const event of events) folded = evolve(folded, event);
  return folded;
}

function transition(s: State, e: Event | ForeignEvent): State {
  switch (e.kind) {
    case 'session.started':
      return lifetime.started(s, e);
    case 'session.paused':
      return lifetime.paused(s);
    case 'session.resumed':
      return lifetime.resumed(s);
    case 'session.stopping':
      return lifetime.stopping(s, e);
    case 'session.stopped':
      return lifetime.stopped(s, e);
    case 'session.reopened':
      return lifetime.reopened(s);
    case 'session.quarantined':
      return lifetime.quarantined(s, e);
    case 'session.parked':
      return heap.parked(s);
    case 'session.forked':
      return fork.forked(s, e);
    case 'lease.acquired':
      return lifetime.acquired(s, e);
    case 'message.accepted':
      return inbox.accepted(s, e);
    case 'message.read':
      return inbox.read(s, e);
    case 'turn.started':
      return turn.started(s, e);
    case 'step.started':
      return turn.stepStarted(s, e);
    case 'model.completed':
      return turn.modelCompleted(s, e);
    case 'model.failed':
      return turn.modelFailed(s, e);
    case 'call.refused':
      return turn.callRefused(s, e);
    case 'call.suspended':
      return turn.callSuspended(s, e);
    case 'progress.noted':
      return turn.progressNoted(s, e);
    case 'response.surfaced':
      return turn.surfaced(s, e);
    case 'turn.failed':
      return turn.failed(s, e);
    case 'turn.interrupted':
      return turn.interrupted(s, e);
    case 'budget.set':
      return budget.set(s, e);
    case 'budget.exhausted':
      return budget.exhausted(s, e);
    case 'effect.intended':
      return effect.intended(s, e);
    case 'effect.refused':
      return effect.refused(s, e);
    case 'effect.dispatched':
      return effect.dispatched(s, e);
    case 'effect.settled':
      return effect.settled(s, e);
    case 'effect.reconciled':
      return effect.reconciled(s, e);
    case 'evidence.received':
      return effect.evidenceReceived(s, e);
    case 'cell.started':
      return heap.cellStarted(s, e);
    case 'cell.committed':
      return heap.cellCommitted(s, e);
    case 'cell.aborted':
      return heap.cellAborted(s, e);
    case 'cell.suspended':
      return heap.cellSuspended(s, e);
    case 'heap.restored':
      return heap.restored(s, e);
    case 'heap.based':
      return heap.based(s, e);
    case 'decision.requested':
      return decision.requested(s, e);
    case 'decision.made':
      return decision.made(s, e);
    case 'decision.expired':
      return decision.expired(s, e);
    case 'timer.set':
      return timer.set(s, e);
    case 'timer.fired':
      return timer.fired(s, e);
    case 'foreign':
      return { ...s, foreign: [...s.foreign, { kind: e.original, seq: e.seq }] };
    default:
      return unreachable(e);
  }
}
