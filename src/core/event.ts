/**
 * The event kinds of a session's log: everything durable, and the only way in.
 *
 * E1  Events are facts in the past tense; they are appended, never changed.
 * E2  An event is linear in what is new: no event repeats the transcript, the heap or the ledger.
 * E3  Each kind belongs to one of three classes (`AUTHORITY`), which say who may append it.
 * E4  Each kind has a version (`VERSIONS`); `upcast` turns older ones into these shapes on reading.
 */

import type { Json } from '../lib/json.ts';
import type { Budgets, Cost } from './budget/budget.ts';
import type { BudgetEvent } from './budget/event.ts';
import type { Rates } from './budget/rates.ts';
import type { Capability, Evidence, Finding, Outcome } from './capability.ts';
import type { Claim } from './claims.ts';
import type { ContextEvent } from './context/event.ts';
import type { ConversationEvent, Profile, Relayed } from './conversation/event.ts';
import type { FamilyEvent, FamilyUse, Parent } from './family/event.ts';
import type { FileRef } from './file.ts';
import type { ForkEvent } from './fork/event.ts';
import type { HeapEvent } from './heap/event.ts';
import type { CallId, CellId, DecisionId, EffectId, MessageId, Owner, SessionId, TimerId } from './ids.ts';
import type { KernelEvent } from './kernel/event.ts';
import type { Limits } from './limits.ts';
import type { Finish, Part, Usage, When } from './message.ts';
import type { Ruling } from './policy.ts';
import type { ResidencyEvent } from './residency/event.ts';
import type { Residency } from './residency/policy.ts';
import type { RetentionEvent } from './retention/event.ts';
import type { FilesUse, WorkspaceEvent } from './workspace/event.ts';

/** Where an effect was asked for: directly by the model, or by code in a cell. */
export type Origin =
  | { readonly by: 'call'; readonly call: CallId }
  | { readonly by: 'cell'; readonly cell: CellId; readonly guestCall: number };

/** What a suspended call or cell waits for. */
export type Awaited = DecisionId | TimerId | SessionId;

export type DecisionAnswer = 'approve' | 'reject' | 'done' | 'not-done' | 'answer';

/** What a person is asked about: whether to send it, whether it happened, or what the work itself wants to know. */
export type DecisionSubject = 'approval' | 'unknown' | 'question';

/** Each subject has its own kinds in a folder of its own; the machine's follow. */
export type EventBody =
  | ResidencyEvent
  | RetentionEvent
  | ForkEvent
  | BudgetEvent
  | ContextEvent
  | HeapEvent
  | KernelEvent
  | WorkspaceEvent
  | FamilyEvent
  | ConversationEvent
  // ── lifetime ─────────────────────────────────────────────────────────────────────────────────────────────
  | {
      readonly kind: 'session.started';
      readonly owner: Owner;
      readonly persist: boolean;
      readonly objective: string;
      readonly title: string;
      readonly model: string;
      readonly tools: readonly string[];
      readonly limits: Limits;
      /** Seed of the sandbox's random numbers. */
      readonly seed: number;
      /** Since version 2. */
      readonly budget: Budgets;
      /** Only there for a child. */
      readonly parent?: Parent;
      /** What it is, where it is no task. */
      readonly profile?: Profile;
      /** Where the prices of its model are known. */
      readonly rates?: Rates;
    }
  | { readonly kind: 'session.paused'; readonly by: string }
  | { readonly kind: 'session.resumed'; readonly by: string }
  | { readonly kind: 'session.stopping'; readonly by: string }
  | { readonly kind: 'session.stopped'; readonly unknown: readonly EffectId[] }
  | { readonly kind: 'session.reopened'; readonly by: string }
  | { readonly kind: 'session.quarantined'; readonly reason: string }
  /** All slots of its owner are taken: it waits for one, at this place. What was sent is cleared up meanwhile. */
  | { readonly kind: 'session.queued'; readonly place: number }
  /** It has a slot after it waited for one. */
  | { readonly kind: 'session.admitted' }
  | {
      readonly kind: 'lease.acquired';
      readonly epoch: number;
      readonly holder: string;
      /** Whether the holder before let go by itself. */
      readonly clean: boolean;
    }
  // ── inbox ────────────────────────────────────────────────────────────────────────────────────────────────
  | {
      readonly kind: 'message.accepted';
      readonly message: MessageId;
      readonly key: string | null;
      readonly text: string;
      /** Since version 2. */
      readonly images: readonly FileRef[];
      readonly when: When;
      readonly rule: string;
      /** From where it woke a session that rested; not there where nothing rested. */
      readonly woke?: Residency;
    }
  | {
      readonly kind: 'message.read';
      readonly turn: number;
      readonly step: number;
      readonly messages: readonly MessageId[];
    }
  // ── turn ─────────────────────────────────────────────────────────────────────────────────────────────────
  | { readonly kind: 'turn.started'; readonly turn: number }
  | { readonly kind: 'step.started'; readonly turn: number; readonly step: number }
  | {
      readonly kind: 'model.completed';
      readonly turn: number;
      readonly step: number;
      readonly model: string;
      readonly parts: readonly Part[];
      readonly finish: Finish;
      readonly usage: Usage;
      /** Since version 3; null when no price is known. */
      readonly cost: Cost | null;
      /** How long the call took; 0 in older versions. */
      readonly ms: number;
    }
  | {
      readonly kind: 'model.failed';
      readonly turn: number;
      readonly step: number;
      readonly code: string;
      readonly message: string;
      /** Whether another attempt can help. */
      readonly retry: boolean;
      /** The provider's own wish, when it gave one. */
      readonly retryAfterMs: number | null;
      /** Text that people have seen before the stream broke or was cut. */
      readonly partial: string;
    }
  | { readonly kind: 'call.refused'; readonly call: CallId; readonly code: string; readonly message: string }
  | { readonly kind: 'call.suspended'; readonly call: CallId; readonly on: Awaited }
  | {
      readonly kind: 'progress.noted';
      readonly turn: number;
      readonly step: number;
      readonly text: string;
      /** Who noted it with the tool `progress`; null for what stands beside the calls of a reply. */
      readonly origin: Origin | null;
    }
  | {
      readonly kind: 'response.surfaced';
      readonly turn: number;
      readonly text: string;
      readonly answers: readonly MessageId[];
      /** False when the model was cut off at its output limit. */
      readonly complete: boolean;
      /** Since version 2: what it did outside, as the ledger knows it at this moment. */
      readonly claims: readonly Claim[];
      /** Titles of children that were cut off in this turn; not there when none was. */
      readonly partial?: readonly string[];
      /** Of a conversation: tasks whose words these are, and the results that they stand in. */
      readonly relayed?: readonly Relayed[];
    }
  | {
      readonly kind: 'turn.failed';
      readonly turn: number;
      readonly code: string;
      readonly reason: string;
      /** As with a response. */
      readonly claims: readonly Claim[];
      readonly partial?: readonly string[];
    }
  | { readonly kind: 'turn.interrupted'; readonly turn: number; readonly by: string }
  // ── effects: the ledger ──────────────────────────────────────────────────────────────────────────────────
  | {
      readonly kind: 'effect.intended';
      readonly effect: EffectId;
      readonly origin: Origin;
      readonly tool: string;
      readonly capability: Capability;
      readonly target: string;
      readonly identity: string | null;
      readonly args: Json;
      readonly digest: string;
      /** What the policy says of it, and by which rule. Since version 2. */
      readonly policy: Ruling;
      /** What its tool does with the files of the session, where it does anything. */
      readonly files?: FilesUse;
      /** What it does with children, where it does anything. */
      readonly family?: FamilyUse;
    }
  /** Denied, not granted, or not well formed: it was never sent, and whoever asked is told. */
  | {
      readonly kind: 'effect.refused';
      readonly effect: EffectId;
      readonly code: string;
      readonly message: string;
    }
  | {
      readonly kind: 'effect.dispatched';
      readonly effect: EffectId;
      readonly attempt: number;
      readonly epoch: number;
    }
  | {
      readonly kind: 'effect.settled';
      readonly effect: EffectId;
      readonly attempt: number;
      readonly outcome: Outcome;
    }
  | {
      readonly kind: 'effect.reconciled';
      readonly effect: EffectId;
      readonly finding: Finding;
      readonly evidence: Evidence;
      /** What was seen, in words. */
      readonly note: string;
    }
  | {
      readonly kind: 'evidence.received';
      readonly effect: EffectId;
      readonly epoch: number;
      readonly attempt: number;
      /** `absent`: the request never left. */
      readonly outcome: Outcome | { readonly status: 'absent' };
    }
  // ── decisions, timers ────────────────────────────────────────────────────────────────────────────────────
  | {
      readonly kind: 'decision.requested';
      readonly decision: DecisionId;
      /** Since version 3, as are `why`, `digest` and `expiresAt`. */
      readonly about: DecisionSubject;
      /** The effect that it is about; null for a question that the work itself asks. */
      readonly effect: EffectId | null;
      /** Who asked, when the work asks; null when it is about an effect. */
      readonly origin: Origin | null;
      readonly question: string;
      /** Why a person is asked; empty for a question of the work. */
      readonly why: string;
      readonly options: readonly DecisionAnswer[];
      /** Answers that are offered; none when any text will do. */
      readonly choices: readonly string[];
      /** Of an approval: the action that it is about. */
      readonly digest: string | null;
      /** From then on it can be answered no more; null when there is no such instant. */
      readonly expiresAt: number | null;
    }
  | {
      readonly kind: 'decision.made';
      readonly decision: DecisionId;
      readonly answer: DecisionAnswer;
      readonly text: string;
      readonly by: string;
      /** Only there where a conversation has passed on what a person said to it. */
      readonly mandate?: { readonly session: SessionId; readonly message: MessageId; readonly words: string };
    }
  /** Nobody answered in time: what waited for it is not done. */
  | { readonly kind: 'decision.expired'; readonly decision: DecisionId }
  | {
      readonly kind: 'timer.set';
      readonly timer: TimerId;
      readonly due: number;
      readonly origin: Origin;
    }
  | { readonly kind: 'timer.fired'; readonly timer: TimerId };

export type EventKind = EventBody['kind'];
export type EventOf<Kind extends EventKind> = Extract<EventBody, { kind: Kind }> & Stamp;

export interface Stamp {
  /** 1, 2, 3 … without a gap. */
  readonly seq: number;
  /** Milliseconds since the epoch; never less than that of the event before. */
  readonly at: number;
}

/** An event as it stands in the log. */
export type Event = EventBody & Stamp;

/** A kind that a newer version wrote. It is kept, and the session refuses to run here. */
export interface ForeignEvent extends Stamp {
  readonly kind: 'foreign';
  readonly original: string;
  readonly version: number;
}

/**
 * Who may append a kind.
 * - `input`: anyone with the right, at the head, without the lease;
 * - `fact`: the holder of the current lease epoch, about something that has happened;
 * - `choice`: the holder, on the very head on which it was decided.
 */
export const AUTHORITY = {
  'session.started': 'input',
  'session.paused': 'input',
  'session.resumed': 'input',
  'session.stopping': 'input',
  'session.stopped': 'choice',
  'session.reopened': 'input',
  'session.quarantined': 'choice',
  'session.queued': 'fact',
  'session.admitted': 'fact',
  'session.parked': 'fact',
  'session.archived': 'fact',
  'session.forked': 'input',
  'lease.acquired': 'fact',
  'message.accepted': 'input',
  'message.read': 'choice',
  'turn.started': 'choice',
  'step.started': 'choice',
  'model.completed': 'fact',
  'model.failed': 'fact',
  'call.refused': 'choice',
  'call.suspended': 'choice',
  'progress.noted': 'choice',
  'response.surfaced': 'choice',
  'turn.failed': 'choice',
  'turn.interrupted': 'input',
  'compaction.started': 'choice',
  'context.compacted': 'fact',
  'compaction.failed': 'fact',
  'budget.set': 'input',
  'budget.exhausted': 'fact',
  'effect.intended': 'choice',
  'effect.refused': 'choice',
  'effect.dispatched': 'choice',
  'effect.settled': 'fact',
  'effect.reconciled': 'fact',
  'evidence.received': 'input',
  'cell.started': 'choice',
  'cell.committed': 'fact',
  'cell.aborted': 'fact',
  'cell.suspended': 'choice',
  'heap.restored': 'fact',
  'heap.based': 'fact',
  'workspace.opened': 'fact',
  'workspace.committed': 'fact',
  'workspace.set': 'input',
  'kernel.noted': 'fact',
  'kernel.noticed': 'fact',
  'kernel.released': 'choice',
  'child.spawned': 'choice',
  'child.instructed': 'choice',
  'child.reported': 'input',
  'child.relayed': 'fact',
  'descendant.counted': 'input',
  'parent.told': 'fact',
  'tasks.seen': 'fact',
  'ending.chosen': 'choice',
  'turn.passed': 'choice',
  'retention.noticed': 'fact',
  'retention.deferred': 'fact',
  'retention.over': 'choice',
  'session.deleting': 'input',
  'session.deleted': 'fact',
  'decision.requested': 'choice',
  'decision.made': 'input',
  'decision.expired': 'choice',
  'timer.set': 'choice',
  'timer.fired': 'choice',
} as const satisfies Record<EventKind, 'input' | 'fact' | 'choice'>;

/** The version that this build writes of each kind. */
export const VERSIONS: Readonly<Record<EventKind, number>> = {
  ...(Object.fromEntries(Object.keys(AUTHORITY).map((kind) => [kind, 1])) as Record<EventKind, number>),
  'progress.noted': 2,
  'decision.requested': 3,
  'effect.intended': 2,
  'timer.set': 2,
  'message.accepted': 2,
  'response.surfaced': 2,
  'turn.failed': 2,
  /** Version 3 has limits of the model's view, 4 those of children and of kernels that rest, 5 how long it is kept. */
  'session.started': 5,
  /** Version 2 has parts of the kinds `file` and `source`, version 3 what it cost. */
  'model.completed': 3,
};
