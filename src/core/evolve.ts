/**
 * The fold: `state' = evolve(state, event)`. Pure, synchronous, total over the known kinds.
 *
 * Each concern's transitions live in its slice; this file is the list of them.
 */

import { NO_BUDGETS, NOTHING_SPENT } from './budget/budget.ts';
import * as budget from './budget/evolve.ts';
import * as context from './context/evolve.ts';
import { NO_CONTEXT } from './context/state.ts';
import * as conversation from './conversation/evolve.ts';
import { NO_CONVERSATION } from './conversation/state.ts';
import * as decision from './decision.ts';
import * as effect from './effect.ts';
import type { Event, EventBody, EventKind, EventOf, ForeignEvent } from './event.ts';
import * as family from './family/evolve.ts';
import { NO_FAMILY } from './family/state.ts';
import * as fork from './fork/evolve.ts';
import * as heap from './heap/evolve.ts';
import { NO_HEAP } from './heap/state.ts';
import { noCounters, type Owner } from './ids.ts';
import * as inbox from './inbox.ts';
import * as kernel from './kernel/evolve.ts';
import { NO_KERNEL } from './kernel/state.ts';
import * as lifetime from './lifetime.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import * as residence from './residency/evolve.ts';
import { NEW_RESIDENCE } from './residency/state.ts';
import * as retention from './retention/evolve.ts';
import { KEPT } from './retention/state.ts';
import type { State } from './state.ts';
import * as timer from './timer.ts';
import * as turn from './turn.ts';
import * as workspace from './workspace/evolve.ts';
import { NO_FILES } from './workspace/state.ts';

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
  lifetime: lifetime.NEW_LIFETIME,
  residence: NEW_RESIDENCE,
  fork: null,
  inbox: { unread: [], receipts: {} },
  turn: null,
  turns: 0,
  lastTurn: null,
  transcript: [],
  context: NO_CONTEXT,
  withheld: [],
  effects: { open: [], closed: [] },
  heap: NO_HEAP,
  workspace: NO_FILES,
  kernel: NO_KERNEL,
  retention: KEPT,
  family: NO_FAMILY,
  conversation: NO_CONVERSATION,
  decisions: [],
  toldSeq: 0,
  loss: null,
  timers: [],
  foreign: [],
};

export function evolve(state: State, event: Event | ForeignEvent): State {
  const next = family.withDue(transition(state, event), state, event);
  const activeAt = UPKEEP.has(event.kind) ? state.activeAt : event.at;
  return { ...next, head: event.seq, at: event.at, activeAt };
}

/** What happens to a session that rests does not end its rest: else nothing would ever be parked. */
const UPKEEP: ReadonlySet<string> = new Set([
  'lease.acquired',
  'heap.based',
  'session.parked',
  'kernel.noted',
  'kernel.noticed',
  'kernel.released',
  'retention.noticed',
  'retention.deferred',
  'session.archived',
  'compaction.started',
  'context.compacted',
  'compaction.failed',
  'child.relayed',
  'parent.told',
]);

export const isUpkeep = (kind: string): boolean => UPKEEP.has(kind);

/** What was decided on `s`, as the next events of its log, and the state after them. Time never goes back. */
export function append(
  s: State,
  bodies: readonly EventBody[],
  now: number,
): { readonly events: readonly Event[]; readonly state: State } {
  const at = Math.max(now, s.at);
  const events = bodies.map((body, i): Event => ({ ...body, seq: s.head + 1 + i, at }));
  return { events, state: fold(events, s) };
}

/** The state after `events`, on top of `state`. */
export function fold(events: Iterable<Event | ForeignEvent>, state: State = initialState): State {
  let folded = state;
  for (const event of events) folded = evolve(folded, event);
  return folded;
}

/** What each kind does to the state: the whole list of what can happen to a session. */
const TRANSITIONS: { readonly [Kind in EventKind]: (s: State, e: EventOf<Kind>) => State } = {
  'session.started': lifetime.started,
  'session.paused': lifetime.paused,
  'session.resumed': lifetime.resumed,
  'session.stopping': lifetime.stopping,
  'session.stopped': (s, e) => kernel.unnoticed(lifetime.stopped(s, e)),
  'session.reopened': lifetime.reopened,
  'session.quarantined': lifetime.quarantined,
  'session.queued': lifetime.queued,
  'session.admitted': lifetime.admitted,
  'session.parked': (s, e) => workspace.parked(heap.parked(residence.held(s, e.at))),
  'session.archived': residence.archived,
  'session.forked': fork.forked,
  'lease.acquired': lifetime.acquired,
  'message.accepted': (s, e) => inbox.accepted(residence.followed(s, e), e),
  'message.read': inbox.read,
  'turn.started': turn.started,
  'step.started': (s, e) => turn.stepStarted(s.heap.chain ? s : residence.awake(s, e.at), e),
  'model.completed': (s, e) => turn.modelCompleted(residence.readAgain(s, e), e),
  'model.failed': turn.modelFailed,
  'call.refused': turn.callRefused,
  'call.suspended': turn.callSuspended,
  'progress.noted': turn.progressNoted,
  'response.surfaced': (s, e) => conversation.spoken(turn.surfaced(s, e), e),
  'turn.failed': (s, e) => conversation.ended(turn.failed(s, e)),
  'turn.interrupted': (s, e) => conversation.ended(turn.interrupted(lifetime.admitted(s), e)),
  'compaction.started': context.started,
  'context.compacted': context.compacted,
  'compaction.failed': context.failed,
  'budget.set': budget.set,
  'budget.exhausted': budget.exhausted,
  'effect.intended': effect.intended,
  'effect.refused': effect.refused,
  'effect.dispatched': effect.dispatched,
  'effect.settled': effect.settled,
  'effect.reconciled': effect.reconciled,
  'evidence.received': effect.evidenceReceived,
  'cell.started': heap.cellStarted,
  'cell.committed': heap.cellCommitted,
  'cell.aborted': heap.cellAborted,
  'cell.suspended': heap.cellSuspended,
  'heap.restored': (s, e) => residence.awake(heap.restored(s, e), e.at),
  'heap.based': heap.based,
  'workspace.opened': workspace.opened,
  'workspace.committed': workspace.committed,
  'workspace.set': workspace.set,
  'kernel.noted': kernel.noted,
  'child.spawned': family.spawned,
  'child.instructed': family.instructed,
  'child.reported': family.reported,
  'child.relayed': family.relayed,
  'descendant.counted': family.counted,
  'parent.told': family.parentTold,
  'tasks.seen': conversation.seen,
  'ending.chosen': conversation.endingChosen,
  'turn.passed': conversation.passed,
  'kernel.noticed': kernel.noticed,
  'kernel.released': kernel.released,
  'retention.noticed': retention.noticed,
  'retention.deferred': retention.deferred,
  'retention.over': retention.over,
  'session.deleting': retention.ordered,
  'session.deleted': (_, e) => retention.deleted(initialState, e),
  'decision.requested': decision.requested,
  'decision.made': decision.made,
  'decision.expired': decision.expired,
  'timer.set': timer.set,
  'timer.fired': timer.fired,
};

function transition(s: State, e: Event | ForeignEvent): State {
  if (e.kind === 'foreign') return { ...s, foreign: [...s.foreign, { kind: e.original, seq: e.seq }] };
  const change = TRANSITIONS[e.kind] as (s: State, e: Event) => State;
  return change(s, e);
}
