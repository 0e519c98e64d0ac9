/** The calls of one owner, and of the whole runtime: shapes only, made in runtime.ts. */

import type { Recalled } from '../context/recall/render.ts';
import type { BudgetChange, Budgets } from '../core/budget/budget.ts';
import type { BudgetChanges } from '../core/budget/decide.ts';
import type { DecisionAnswer, Event, ForeignEvent } from '../core/event.ts';
import type { FileData } from '../core/file.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import type { Limits } from '../core/limits.ts';
import type { Receipt, When } from '../core/message.ts';
import type { Phase } from '../core/phase.ts';
import type { Estate } from '../core/retention/event.ts';
import type { Asked } from '../loop/ask.ts';
import type { Forked, ForkRequest } from '../loop/fork.ts';
import type { RecallRequest } from '../loop/recall/recall.ts';
import type { Guesses } from '../projections/guesses.ts';
import type { Inspection } from '../projections/inspection.ts';
import type { Report } from '../projections/report.ts';
import type { OwnerBudget } from '../store/port.ts';
import type { ConverseOptions } from './converse.ts';
import type { FileCalls } from './files.ts';
import type { Whisper } from './follow.ts';
import type { Inbox, InboxItem } from './inbox.ts';
import type { OwnerSlots, PlacedRow } from './slots.ts';
import type { Verification } from './verify.ts';

export interface StartRequest {
  readonly message: string;
  /** PNG, JPEG, GIF or WebP: at most 8, of 5 MB each and 14 MB together. */
  readonly images?: readonly FileData[];
  /** Keep the session open after its first response. One-shot when false; a follow-up reopens it all the same. */
  readonly persist?: boolean;
  readonly title?: string;
  /** A folder of the machine on which the runtime runs, or a git remote: its files stand in the workspace from the start. */
  readonly workspace?: string;
  readonly limits?: Partial<Limits>;
  /** What turns and the whole session may use; what is not named is not limited. Money is in micro-dollars. */
  readonly budget?: Partial<Budgets>;
  /** A repeated start with the same key finds the session of the first. */
  readonly key?: string | null;
}

export interface Started extends Receipt {
  readonly session: SessionId;
}

export interface Stopped {
  readonly status: 'stopped' | 'stopping';
  /** Effects whose outcome nobody knows. */
  readonly unknown: readonly string[];
  /** Those that are stopped with it. */
  readonly children: readonly { readonly id: SessionId; readonly title: string }[];
}

export interface Deleted {
  readonly status: 'deleted' | 'deleting';
  /** When it was, and what it had; null while it is on its way. */
  readonly at: number | null;
  readonly had: Estate | null;
}

export interface SendOptions {
  readonly key?: string | null;
  readonly when?: When;
  /** As with `start`. */
  readonly images?: readonly FileData[];
}

/** The calls of one owner. An id of another owner answers as an unknown id. */
export interface Sessions extends FileCalls {
  start(request: StartRequest): Promise<Started>;
  send(session: string, message: string, options?: SendOptions): Promise<Receipt>;
  /** Says something to the owner's conversation, which starts with the first word. */
  converse(message: string, options?: ConverseOptions): Promise<Started>;
  /** The conversation of this name, if it has begun. */
  conversation(name?: string): Promise<SessionId | null>;
  /** A question about the work, answered by its model; the session does not notice. */
  ask(session: string, question: string, options?: { signal?: AbortSignal }): Promise<Asked>;
  /** With `at`, as it stood once that event was in its log. */
  inspect(session: string, options?: { at?: number }): Promise<Inspection>;
  list(query?: { phase?: string; after?: string; limit?: number }): Promise<readonly PlacedRow[]>;
  events(session: string, after: number, limit: number): Promise<readonly (Event | ForeignEvent)[]>;
  follow(
    session: string,
    options?: { after?: number; signal?: AbortSignal; whispers?: boolean },
  ): AsyncGenerator<Event | ForeignEvent | Whisper, void, void>;
  pause(session: string): Promise<Phase>;
  resume(session: string): Promise<Phase>;
  interrupt(session: string): Promise<Phase>;
  stop(session: string, options?: { waitMs?: number }): Promise<Stopped>;
  reopen(session: string): Promise<Phase>;
  /**
   * Deletes what is stopped or completed, with its children, for good; a tombstone stays. Refused while anything of it is
   * not settled.
   */
  delete(session: string, options?: { waitMs?: number }): Promise<Deleted>;
  /** The first answer stands. With `digest`, only if the decision is about the action that has it. */
  decide(
    session: string,
    decision: string,
    answer: DecisionAnswer,
    text?: string,
    options?: { digest?: string | undefined },
  ): Promise<Phase>;
  /** Everything that awaits a person, over all sessions of this owner. */
  inbox(query?: { after?: string; limit?: number }): Promise<Inbox>;
  /** The whole inbox at once, and again whenever it changes; ends when `signal` aborts. */
  watchInbox(options?: { signal?: AbortSignal }): AsyncGenerator<readonly InboxItem[], void, void>;
  /** Raises or lowers what a session may use. One that rests on a budget tries again, enough or not. */
  setBudget(session: string, changes: BudgetChanges): Promise<Phase>;
  /** What the owner's sessions may use together, and have used. */
  ownerBudget(): Promise<OwnerBudget>;
  /** As `setBudget`, for all sessions of the owner together; null lifts all limits. */
  setOwnerBudget(change: BudgetChange | null): Promise<OwnerBudget>;
  /** Where the owner's sessions rest, which guesses about them were wrong, and what that cost. */
  stats(): Promise<Guesses>;
  /** How many sessions of the owner may work at once, how many do, and how many wait. */
  slots(): Promise<OwnerSlots>;
  /** A number of the owner's own; null goes back to that of the server. */
  setSlots(slots: number | null): Promise<OwnerSlots>;
  verify(session: string): Promise<Verification>;
  /** What the log says: by id, by words, by kind and time. Without any of them, the newest passages. */
  recall(session: string, request?: RecallRequest): Promise<Recalled>;
  /** What became of each kind of state after the last loss, as far as it is known now. */
  report(session: string): Promise<Report>;
  /**
   * A new session that shares the log of this one up to an event: transcript, files, live objects. What was in flight
   * there stays with the original.
   */
  fork(session: string, request?: ForkRequest): Promise<Forked>;
  /** Resolves with the phase once the session rests: nothing more happens until something comes in. */
  rest(session: string, options?: { signal?: AbortSignal }): Promise<Phase>;
}

export interface Outlast extends Sessions {
  as(owner: Owner): Sessions;
  /** Ends cleanly: requests that have left get a moment to answer, then leases are given back. */
  close(): Promise<void>;
}
