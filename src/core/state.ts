/**
 * The state of a session: what the fold of its log says. Plain readonly data, one slice for each concern.
 *
 * F1  State is a function of the log and nothing else: any process that folds the same events has an equal state.
 * F2  What is settled and shown moves into append-only lists; the records that change stay small, so that a step
 *     costs the same after five thousand steps as after fifty.
 */

import type { Failing } from './budget/breaker.ts';
import type { BudgetState, Spent } from './budget/budget.ts';
import type { Evidence, Outcome } from './capability.ts';
import type { Context, TurnEnd } from './context/state.ts';
import type { Conversation } from './conversation/state.ts';
import type { DecisionAnswer, EventOf } from './event.ts';
import type { Family } from './family/state.ts';
import type { Fork } from './fork/state.ts';
import type { Heap } from './heap/state.ts';
import type { CallId, CellId, Counters, DecisionId, EffectId, MessageId, SessionId, TimerId } from './ids.ts';
import type { Kernel } from './kernel/state.ts';
import type { CallResult, Message, Part, Receipt, ToolCallPart, Whole } from './message.ts';
import type { Residence } from './residency/state.ts';
import type { Retention } from './retention/state.ts';
import type { Files } from './workspace/state.ts';

export interface State {
  readonly head: number;
  readonly at: number;
  /** Instant of the last event that was more than upkeep: since when it rests, if it does. */
  readonly activeAt: number;
  readonly counters: Counters;
  readonly contract: Contract;
  readonly budget: BudgetState;
  readonly lifetime: Lifetime;
  readonly residence: Residence;
  /** Where it was forked from; null for a session that was started. */
  readonly fork: Fork | null;
  readonly inbox: Inbox;
  readonly turn: OpenTurn | null;
  /** Number of the last turn that was started; 0 before the first. */
  readonly turns: number;
  readonly lastTurn: ClosedTurn | null;
  /** What the model's view is rendered from, but for what was compacted. */
  readonly transcript: readonly Item[];
  readonly context: Context;
  /** Turns whose files are shown to no model any more: a provider refused a request that held them. */
  readonly withheld: readonly number[];
  readonly effects: Effects;
  readonly heap: Heap;
  readonly workspace: Files;
  readonly kernel: Kernel;
  readonly retention: Retention;
  readonly family: Family;
  readonly conversation: Conversation;
  readonly decisions: readonly Decision[];
  /** The event that last told a person what stands outside: a response, or a failure. What is settled later is news. */
  readonly toldSeq: number;
  /** The last time that something was lost; null while nothing ever was. */
  readonly loss: Loss | null;
  /** Timers that calls of the model wait for; those of guest code stand with the heap. */
  readonly timers: readonly Timer[];
  /** Kinds of a newer version that stand in the log; a session that has any is readable and does not run here. */
  readonly foreign: readonly { readonly kind: string; readonly seq: number }[];
}

// ── contract and lifetime ──────────────────────────────────────────────────────────────────────────────────

/** What was agreed when it started. */
export interface Contract
  extends Omit<EventOf<'session.started'>, 'kind' | 'seq' | 'at' | 'budget' | 'parent'> {
  readonly startedAt: number;
}

export interface Lifetime {
  /** `queued`: it waits for a slot of its owner, as far as it has anything to do that takes one. */
  readonly status: 'open' | 'queued' | 'paused' | 'stopping' | 'stopped';
  /** Since when it is queued, and at which place it was then; null while it is not. */
  readonly queued: { readonly at: number; readonly place: number } | null;
  readonly stoppingAt: number | null;
  /** Who asked for the stop that stands: a person, or the session whose child this is. */
  readonly stoppedBy: string | null;
  /** Why nothing runs until a person resumes; null otherwise. */
  readonly quarantine: string | null;
  readonly epoch: number;
  readonly acquiredAt: number;
  /** Holders that died in a row without any progress between. */
  readonly crashes: number;
}

// ── inbox ──────────────────────────────────────────────────────────────────────────────────────────────────

export interface Inbox {
  /** Accepted and not yet read, in order of acceptance. */
  readonly unread: readonly Message[];
  /** Sender's key → the receipt that was given. */
  readonly receipts: Readonly<Record<string, Receipt & { readonly digest: string }>>;
}

// ── turn ───────────────────────────────────────────────────────────────────────────────────────────────────

export interface OpenTurn {
  readonly number: number;
  readonly startedAt: number;
  /** Messages read in this turn: the ones that its response answers. */
  readonly answers: readonly MessageId[];
  /** Steps taken in this turn. */
  readonly steps: number;
  readonly spent: Spent;
  /** Calls that failed in this turn, again and again. */
  readonly failing: Failing;
  readonly step: Step;
}

export type Step =
  /** Between `turn.started` and the first `step.started`. */
  | { readonly phase: 'starting' }
  | {
      readonly phase: 'generating';
      readonly number: number;
      readonly startedAt: number;
      readonly attempt: number;
      /** Not before this instant (back-off), or null. */
      readonly notBefore: number | null;
      readonly failure: { readonly code: string; readonly message: string; readonly retry: boolean } | null;
    }
  | {
      readonly phase: 'acting';
      readonly number: number;
      /** Of the model's reply. */
      readonly seq: number;
      readonly parts: readonly Part[];
      readonly finish: string;
      readonly noted: boolean;
      readonly calls: readonly Call[];
    };

export type Call = { readonly part: ToolCallPart } & (
  | { readonly state: 'asked' }
  | { readonly state: 'running'; readonly on: Running }
  | { readonly state: 'answered'; readonly result: CallResult }
);

/** What a running call has become. */
export type Running =
  | { readonly kind: 'effect'; readonly effect: EffectId }
  | { readonly kind: 'cell'; readonly cell: CellId }
  | { readonly kind: 'timer'; readonly timer: TimerId }
  | { readonly kind: 'decision'; readonly decision: DecisionId }
  | { readonly kind: 'child'; readonly child: SessionId };

export interface ClosedTurn {
  readonly number: number;
  readonly end: TurnEnd;
  readonly text: string;
  readonly at: number;
  readonly step: number;
  /** Titles of children that were cut off in it. */
  readonly partial: readonly string[];
}

/** What the model's view is rendered from, in order. */
export type Item =
  | {
      readonly kind: 'message';
      /** The event that holds it whole, as for all items. */
      readonly seq: number;
      readonly message: Message;
      readonly turn: number;
    }
  | {
      readonly kind: 'reply';
      readonly seq: number;
      readonly turn: number;
      readonly step: number;
      readonly parts: readonly Part[];
      readonly results: readonly (CallResult & { readonly call: CallId; readonly tool: string })[];
      /** True for text that was cut off: the person saw it, the model must know. */
      readonly cut: boolean;
    }
  /** What the runtime has to tell the model. */
  | {
      readonly kind: 'note';
      readonly seq: number;
      readonly text: string;
      readonly at: number;
      readonly whole?: Whole;
    };

// ── effects ────────────────────────────────────────────────────────────────────────────────────────────────

export interface Effects {
  /** Not yet settled, in order of intention; small. */
  readonly open: readonly Effect[];
  /** Settled for good, in order of settlement. */
  readonly closed: readonly Effect[];
}

export type EffectStatus =
  /** Durable, not sent. */
  | 'intended'
  /** Marked as sent; no answer yet. */
  | 'dispatched'
  /** No answer will come by itself. */
  | 'unknown'
  | 'done'
  | 'failed'
  /** Never sent, and never will be. */
  | 'withdrawn'
  /** Open when this session was forked: what becomes of it is the original's, and is not known here. */
  | 'left';

/** Whether it may be sent: by its policy, or only once a person has approved it. */
export type Gate = 'open' | 'asks' | 'approved' | 'shut';

/** The action as it was intended, and what has become of it. */
export interface Effect extends Omit<EventOf<'effect.intended'>, 'kind' | 'seq' | 'at' | 'effect'> {
  readonly id: EffectId;
  readonly gate: Gate;
  readonly status: EffectStatus;
  readonly intendedAt: number;
  /** The last dispatch; null before the first. */
  readonly dispatch: { readonly attempt: number; readonly epoch: number; readonly at: number } | null;
  readonly firstDispatchAt: number | null;
  readonly attempts: number;
  /** Attempts whose outcome was lost to a timeout or a torn connection, not to a crash. */
  readonly failures: number;
  /** Not sent again before this instant. */
  readonly notBefore: number;
  /**
   * Since when nobody knows whether an earlier sending stands beside the newest one; only where an extra can be
   * undone. It is closed after the service was looked at.
   */
  readonly doubtSince: number | null;
  /** What the newest sending was answered while such a doubt remains. */
  readonly answer: Exclude<Outcome, { status: 'unknown' }> | null;
  /** Since when its outcome is unknown. */
  readonly unknownSince: number | null;
  readonly unknownReason: string | null;
  /** Its call was answered as suspended: the settlement arrives later, like a message. */
  readonly isSuspended: boolean;
  /** How often the service was asked without a clear answer. */
  readonly queries: number;
  /** Sendings that were believed not to have happened, and did. */
  readonly strays: readonly number[];
  /** A former holder's result, not yet taken in. */
  readonly late: Exclude<Outcome, { status: 'unknown' }> | { readonly status: 'absent' } | null;
  readonly outcome: Exclude<Outcome, { status: 'unknown' }> | null;
  readonly settledSeq: number | null;
  /** Where its outcome was last changed: by the settlement, or by evidence that came after it. */
  readonly outcomeSeq: number | null;
  /** How its outcome was found when it did not simply answer. */
  readonly evidence: { readonly by: Evidence; readonly note: string } | null;
}

// ── decisions ──────────────────────────────────────────────────────────────────────────────────────────────

/** What was asked, and what was answered. */
export interface Decision extends Omit<EventOf<'decision.requested'>, 'kind' | 'seq' | 'at' | 'decision'> {
  readonly id: DecisionId;
  /** The turn in which it was asked. */
  readonly turn: number;
  /** The dispatch that it asks about: a later dispatch is a new question. */
  readonly attempt: number;
  readonly requestedAt: number;
  /** Its call was answered as suspended: the answer arrives later, like a message. */
  readonly isSuspended: boolean;
  readonly made: {
    readonly answer: DecisionAnswer;
    readonly text: string;
    readonly by: string;
    readonly at: number;
  } | null;
  /** True once it has become pointless: its effect was settled by other evidence, or nobody waits for the answer. */
  readonly moot: boolean;
  /** True once its time is over. */
  readonly expired: boolean;
}

// ── losses ─────────────────────────────────────────────────────────────────────────────────────────────────

export interface Loss {
  /** How often something was lost so far. */
  readonly count: number;
  /** When the session was taken over. */
  readonly at: number;
  /** The last event that stood in the log when it was lost, and its instant: what came after stands nowhere. */
  readonly head: number;
  readonly lastAt: number;
  /** The step whose reply was being written. */
  readonly step: number | null;
  /** The cell that ran and had no image of its own yet. */
  readonly cell: CellId | null;
  /** Effects that had left and were not settled. */
  readonly effects: readonly EffectId[];
  /** Whether a compaction was under way. */
  readonly compacting: boolean;
  /** Whether the model has read of it. */
  readonly isTold: boolean;
}

// ── timers ─────────────────────────────────────────────────────────────────────────────────────────────────

export interface Timer {
  readonly id: TimerId;
  readonly call: CallId;
  /** The turn that asked for it. */
  readonly turn: number;
  readonly setAt: number;
  readonly due: number;
  /** Its call was answered as suspended: that it is due arrives like a message. */
  readonly isSuspended: boolean;
}

/** The calls of the step that the open turn is in. */
export const callsOf = ({ turn }: State): readonly Call[] =>
  turn?.step.phase === 'acting' ? turn.step.calls : [];

/** The instants at which the session goes on by itself: of calls of the model, and of code. */
export const pendingTimers = (s: State): readonly { readonly id: TimerId; readonly due: number }[] => [
  ...s.timers,
  ...s.heap.pending.flatMap((call) =>
    call.on === 'timer' && !call.answer ? [{ id: call.timer, due: call.due }] : [],
  ),
];

export const openDecisions = (state: State): readonly Decision[] => state.decisions.filter(isOpen);

export const isOpen = ({ made, moot, expired }: Decision): boolean => !made && !moot && !expired;

export const unknownEffects = (state: State): readonly Effect[] =>
  state.effects.open.filter((effect) => isUnknown(effect, state.lifetime.epoch));

/** Sent, and nobody who is alive waits for the answer. */
export const isUnknown = (effect: Effect, epoch: number): boolean =>
  effect.status === 'unknown' || (effect.status === 'dispatched' && (effect.dispatch?.epoch ?? 0) < epoch);

export const findEffect = (state: State, id: EffectId): Effect | undefined =>
  state.effects.open.find((effect) => effect.id === id) ??
  state.effects.closed.findLast((effect) => effect.id === id);
