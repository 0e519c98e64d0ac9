/**
 * The state of a session: what the fold of its log says. Plain readonly data, one slice for each concern.
 *
 * F1  State is a function of the log and nothing else: any process that folds the same events has an equal state.
 * F2  What is settled and shown moves into append-only lists; the records that change stay small, so that a step
 *     costs the same after five thousand steps as after fifty.
 */

import type { Json } from '../lib/json.ts';
import type { Failing } from './breaker.ts';
import type { Budgets, Exhaustion, Spent } from './budget.ts';
import type { Capability, Evidence, Outcome } from './capability.ts';
import type { Context, TurnEnd } from './context.ts';
import type { Conversation } from './conversation.ts';
import type { Profile } from './conversation-event.ts';
import type { DecisionAnswer, DecisionSubject, HeapImage, Limits, Origin } from './event.ts';
import type { Family } from './family.ts';
import type { FamilyUse } from './family-event.ts';
import type { Files } from './files-state.ts';
import type { Heap, ImageChain } from './heap.ts';
import type {
  CallId,
  CellId,
  Counters,
  DecisionId,
  EffectId,
  MessageId,
  Owner,
  SessionId,
  TimerId,
} from './ids.ts';
import type { KernelLost, KernelNoticed, KernelObject } from './kernel-event.ts';
import type { CallResult, Message, Part, Receipt, ToolCallPart, Whole } from './message.ts';
import type { Ruling } from './policy.ts';
import type { Residency } from './residency.ts';
import type { DeletionCause, SessionDeleted } from './retention-event.ts';
import type { FilesUse } from './workspace-event.ts';

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

export interface Contract {
  readonly owner: Owner;
  readonly persist: boolean;
  /** Not there for a task. */
  readonly profile?: Profile;
  readonly objective: string;
  readonly title: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly limits: Limits;
  readonly seed: number;
  readonly startedAt: number;
}

export interface BudgetState {
  readonly limits: Budgets;
  /** Of the whole session, as far as the log knows. */
  readonly spent: Spent;
  /** What the open turn rests on; null while it rests on no budget. */
  readonly exhausted: Exhaustion | null;
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

export interface Residence {
  /** Instructions that came while it rested, and how long it had rested before the last of them. */
  readonly followUps: number;
  readonly gapMs: number | null;
  /** Since when it rested when it was last archived; null before. */
  readonly archivedSince: number | null;
  /** The last wake by a message: from where, and how long it took until there was all it had; null until that is known. */
  readonly woke: {
    readonly from: Residency;
    readonly at: number;
    readonly ms: number | null;
    /** Whether it had been completed. */
    readonly isEarly: boolean;
    /** Whether a model has read what there was again. */
    readonly isRead: boolean;
  } | null;
  /** Follow-ups that found it completed: how many, how long they waited, and the tokens that were read again for them. */
  readonly tooEarly: { readonly times: number; readonly ms: number; readonly tokens: number };
  /** Memory that was held while it rested, up to each parking. */
  readonly heldMbMinutes: number;
}

export interface Fork {
  readonly from: SessionId;
  /** The last event of the original that it shares. */
  readonly head: number;
  /** Place of its `session.forked`. */
  readonly seq: number;
  readonly lineage: SessionId;
  /** Cells that the original had started by then: their code may not act here. */
  readonly cells: number;
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

export type * from './context.ts';

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

export interface Effect {
  readonly id: EffectId;
  readonly origin: Origin;
  readonly tool: string;
  readonly capability: Capability;
  readonly target: string;
  readonly identity: string | null;
  readonly args: Json;
  readonly digest: string;
  readonly policy: Ruling;
  readonly files?: FilesUse;
  readonly family?: FamilyUse;
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

export type * from './files-state.ts';
export type * from './heap.ts';

// ── kernel ─────────────────────────────────────────────────────────────────────────────────────────────────

export interface Kernel {
  /** What lives in it, by the last look. */
  readonly live: readonly KernelObject[];
  /** Which kernel that was, as its sandbox counts them; 0 before the first. */
  readonly process: number;
  /** Grows whenever something was lost, and is shown to the model. */
  readonly generation: number;
  /** Lease epoch of the last look. */
  readonly attended: number | null;
  /** Of the last loss, and when that was noted. */
  readonly lost: readonly KernelLost[];
  readonly lostAt: number;
  /** What is to be given up and when, as was said of one rest; that rest may be over by now. */
  readonly notice:
    | (Pick<KernelNoticed, 'since' | 'until' | 'unsaved'> & {
        /** It is over: what it names is being given up. */
        readonly isOver: boolean;
      })
    | null;
}

// ── retention ──────────────────────────────────────────────────────────────────────────────────────────────

export interface Retention {
  /** What was said of one rest, and when; that rest may be over by now. */
  readonly notice: { readonly since: number; readonly until: number; readonly at: number } | null;
  /** Why one rest is looked at again before any notice. */
  readonly deferred: { readonly since: number; readonly until: number; readonly why: string } | null;
  /** Why it is being deleted: from then on nothing comes in. */
  readonly going: DeletionCause | null;
  /** All that is left of it. */
  readonly deleted: SessionDeleted | null;
}

// ── decisions ──────────────────────────────────────────────────────────────────────────────────────────────

export interface Decision {
  readonly id: DecisionId;
  readonly about: DecisionSubject;
  /** The effect that it is about; null for a question that the work asks. */
  readonly effect: EffectId | null;
  /** Who asked, when the work asks. */
  readonly origin: Origin | null;
  /** The turn in which it was asked. */
  readonly turn: number;
  /** The dispatch that it asks about: a later dispatch is a new question. */
  readonly attempt: number;
  readonly question: string;
  readonly why: string;
  readonly options: readonly DecisionAnswer[];
  readonly choices: readonly string[];
  /** Of an approval: the action that it is about. */
  readonly digest: string | null;
  /** From then on it can be answered no more; null when there is no such instant. */
  readonly expiresAt: number | null;
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

/** The id that sealed images and files are bound to: that of the session itself, unless it is a fork. */
export const lineageOf = (s: State, session: SessionId): SessionId => s.fork?.lineage ?? session;

/** The image that the chain ends in. */
export const headImage = (chain: ImageChain): HeapImage => chain.deltas.at(-1) ?? chain.base;

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
