/**
 * The port to tools: anything that a model, or code in a cell, can ask the outside for.
 *
 * T1  `plan` is pure: same arguments, same plan. It says what the call would do, before anything is durable.
 * T2  `run` is called only after the dispatch mark is durable. It returns what the service answered. Whatever it
 *     throws means that the outcome is unknown, except `NotSent`: that the request provably never left.
 * T3  `find` looks for what an earlier `run` with the same reference did. It changes nothing.
 * T4  `audit` looks for all that stands under the reference, undoes all but one, and says what stands. Asked again it
 *     finds what it left, and says again what was undone.
 * T5  A tool with `changesFiles` runs alone on the files of its session: they are opened before it and looked at after it,
 *     and what it changed is committed with its settlement. One with `readsFiles` runs when they are open.
 */

import type { Budget } from '../core/budget/budget.ts';
import type { Audit, Capability, Finding } from '../core/capability.ts';
import type { DecisionAnswer } from '../core/event.ts';
import type { FamilyUse } from '../core/family/event.ts';
import type { MessageId, SessionId } from '../core/ids.ts';
import type { ToolSpec } from '../core/message.ts';
import type { Json } from '../lib/json.ts';
import type { Workspace } from '../workspace/port.ts';

export interface Plan {
  readonly capability: Capability;
  /** What is acted on, e.g. `POST http://127.0.0.1:4801/messages`. Writes to one target wait for its unknowns. */
  readonly target: string;
  /** Narrows the hold to calls about the same thing, where the tool can tell; null holds the whole target. */
  readonly identity: string | null;
  /** The arguments as they will be executed and digested. */
  readonly args: Json;
  /** What it will cost, for the policy; left out where the tool cannot tell. */
  readonly costUsd?: number;
  /** What it does with children: bounds are held, and its share of the budget is added to `args` as `share`. */
  readonly family?: FamilyUse;
}

export interface Refusal {
  readonly refused: { readonly code: string; readonly message: string };
}

/** What a call orders of a new child. */
export interface SpawnRequest {
  readonly task: string;
  readonly title: string;
  /** Whether it stays open after its first response. */
  readonly persist: boolean;
  /** Whether it begins with transcript, files and live objects of its parent; else with nothing but its task. */
  readonly fork: boolean;
  /** What it may use. */
  readonly share: Budget;
}

/** An order that a child has. */
export interface Ordered {
  readonly child: SessionId;
  readonly message: MessageId;
  /** When it is read, in words. */
  readonly rule: string;
}

/**
 * The children of a session. Each of these can be done again under the same reference and is done once. What changes
 * anything is refused to a call whose plan did not say so (`Plan.family`).
 */
export interface Kin {
  spawn(request: SpawnRequest): Promise<Ordered>;
  instruct(child: string, message: string, share: Budget): Promise<Ordered>;
  stop(child: string): Promise<{ readonly child: SessionId; readonly wasAtWork: boolean }>;
  /** What a person has decided about a question of it, or of a session below it: the mandate is that of the ledger. */
  decide(session: string, decision: string, choice: PassedOn): Promise<{ readonly decided: string }>;
  /** A question about its work, which changes neither its transcript nor its course. */
  ask(child: string, question: string, signal: AbortSignal): Promise<string>;
  /** All of them, newest first. */
  list(): Promise<readonly Listed[]>;
}

export interface PassedOn {
  readonly answer: DecisionAnswer;
  readonly text: string;
}

/** A child in a list. */
export interface Listed {
  readonly child: SessionId;
  readonly title: string;
  readonly phase: string;
  /** Its last answer, in one line; null while there is none. */
  readonly said: string | null;
}

export interface RunContext {
  /** The idempotency key and reference of this effect: the same in every attempt, unique in the world. */
  readonly reference: string;
  /** Lease epoch of the sender; services that fence can refuse an older one. */
  readonly epoch: number;
  readonly attempt: number;
  /** Aborts at the time limit. */
  readonly signal: AbortSignal;
  readonly session: SessionId;
  /** The files of the session (T5). */
  workspace(): Workspace;
  /** Its children. */
  kin(): Kin;
}

export type Answer =
  | { readonly status: 'done'; readonly result: Json }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

export interface Tool {
  readonly spec: ToolSpec;
  /** Offered to the model as a tool; otherwise only to code in cells. */
  readonly direct: boolean;
  /** The tool under whose name its effects are planned, run and kept, where this is but another way to ask for them. */
  readonly bookedAs?: string;
  /** T5. */
  readonly changesFiles?: true;
  readonly readsFiles?: true;
  /** Objects of it live on between calls: what does is noted after each. */
  readonly keepsObjects?: true;
  /** How long a call with these arguments may take, where that is not for the session's limits to say. */
  limitMs?(args: Json): number;
  /** Aborted, a call ends at once and says how: it is, when nobody waits for it any more. */
  readonly heedsSignal?: true;
  plan(args: Json): Plan | Refusal;
  run(args: Json, context: RunContext): Promise<Answer>;
  find?(args: Json, context: RunContext): Promise<Finding>;
  audit?(args: Json, context: RunContext): Promise<Audit>;
}

/** The request never left this process: nothing was dispatched in truth, and it may be tried again. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

export const isRefusal = (plan: Plan | Refusal): plan is Refusal => 'refused' in plan;
