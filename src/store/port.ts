/**
 * The port to everything durable. One suite (`suite.ts`) proves each adapter.
 *
 * S1  `commit` is atomic: all its events and blobs, what it sheds, and the index row, or nothing; it resolves once they are durable.
 * S2  `commit` succeeds only on the head it names, and under the epoch it names when it names one.
 * S3  Sequence numbers of a session are 1, 2, 3 … without gap or repeat; of one that was erased what stands goes on from there.
 * S4  Epochs only grow. `acquire` gives a new one; a commit under an older one changes nothing.
 * S5  What `read` returns is exactly what was committed, byte for byte, or an error that says what is readable.
 * S6  A transaction touches one session's rows only, and at most the budget of its owner.
 * S7  A reservation is checked against turn, session and owner, and made, in one: two cannot both take what is left.
 *     It counts in full until it is settled, for ever if need be; reserving or settling again by its key changes nothing.
 * S8  The index of a log's words is kept for whoever made it, batch after batch without a gap, and is never authority: a
 *     search gives what was put in, or less, never anything else, and what is damaged is forgotten.
 * S9  A slot of an owner is a lease that counts: it ends with the lease, so neither a dead holder nor an older epoch has one.
 *     The queue is the index rows that say since when they wait, the longest first; nobody is let in before them.
 * S10 A commit that erases leaves its one event, and of all that stood before nothing: no event, blob or word. That is no
 *     damage. Blobs and words that come for it afterwards are not kept; row, epoch, start key and ledger go on.
 */

import type { Amounts, Budget, Budgets, Exhaustion, Spent } from '../core/budget/budget.ts';
import type { BlobRef, Owner, SessionId } from '../core/ids.ts';
import type { Batch } from '../projections/recall/word-index.ts';
import type { Summary } from '../projections/summary.ts';

/** An event as stored: the body is JSON text, so that unknown kinds and versions survive untouched. */
export interface StoredEvent {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly version: number;
  /** The event's own members as JSON, without seq, at, kind. */
  readonly body: string;
}

export interface Blob {
  readonly ref: BlobRef;
  readonly bytes: Uint8Array;
}

export type { Batch } from '../projections/recall/word-index.ts';
export type { Summary } from '../projections/summary.ts';

export interface Row extends Summary {
  readonly id: SessionId;
  readonly head: number;
  readonly epoch: number;
}

export interface Commit {
  readonly session: SessionId;
  /** Sequence number of the last event that the committer has seen; 0 creates the session. */
  readonly head: number;
  /** The holder's epoch; null for inputs, which need no lease. */
  readonly epoch: number | null;
  readonly events: readonly StoredEvent[];
  readonly blobs: readonly Blob[];
  readonly summary: Summary;
  /** Of a session that is archived: blobs that its state needs no more. They go, and the index of its words goes with them. */
  readonly sheds?: readonly BlobRef[];
  /** S10. Its one event is the tombstone. */
  readonly erases?: true;
  /** Only when creating: a key under which a repeated start by the same owner finds this session. */
  readonly startKey?: string | null;
}

export type CommitResult =
  | { readonly status: 'committed' }
  /** Somebody else appended: fold again and decide again. */
  | { readonly status: 'conflict'; readonly head: number }
  /** A newer epoch holds the session: this holder is no holder any more. */
  | { readonly status: 'fenced'; readonly epoch: number }
  /** Creating under a start key that stands already. */
  | { readonly status: 'exists'; readonly session: SessionId };

export type Acquired =
  | { readonly status: 'acquired'; readonly epoch: number; readonly clean: boolean }
  | { readonly status: 'held'; readonly holder: string; readonly untilMs: number };

export interface ListQuery {
  readonly owner?: Owner;
  readonly phase?: string;
  /** Only sessions in which something awaits a person. */
  readonly awaiting?: true;
  /** Id of the last row of the page before. */
  readonly after?: SessionId;
  readonly limit: number;
}

/** An owner's own limits, and what all their sessions have used since one of these or the owner had a limit. */
export interface OwnerBudget {
  readonly limits: Budget;
  readonly spent: Spent;
  /** Of calls that are under way, or came to no end. */
  readonly held: Amounts;
  /** How many sessions may work at once, where that is the owner's own number. */
  readonly slots?: number;
}

/** Whether a lease counts as a slot now; `place` is 1 for the next in the queue. */
export type Claimed =
  | { readonly status: 'granted' }
  | { readonly status: 'full'; readonly place: number }
  | { readonly status: 'fenced'; readonly epoch: number };

export interface Queue {
  /** The owner's own number; null where there is none. */
  readonly slots: number | null;
  readonly working: number;
  /** Those without a slot that wait for one, the longest first. */
  readonly waiting: readonly SessionId[];
}

/** The most that one model call may take. */
export interface Reservation {
  readonly owner: Owner;
  /** Whose budget it is: the session's own. */
  readonly session: SessionId;
  readonly turn: number;
  /** Of this call and of no other. */
  readonly key: string;
  /** Money is null where no price is known: then it fits into no budget in money. */
  readonly amounts: Omit<Amounts, 'microUsd'> & { readonly microUsd: number | null };
  readonly limits: Budgets;
  /** What the session's log knows of. */
  readonly spent: { readonly turn: Spent; readonly session: Spent };
}

export interface Exhausted extends Exhaustion {
  readonly status: 'exhausted';
  /** It would fit, but for what is held for other calls. */
  readonly isHeld: boolean;
}

/** `ms`: the time that the call has. */
export type Reserved = { readonly status: 'granted'; readonly ms: number } | Exhausted;

export interface Store {
  commit(commit: Commit): Promise<CommitResult>;
  /** Events after `after`, in order, at most `limit`. An unknown session has none. */
  read(session: SessionId, after: number, limit: number): Promise<readonly StoredEvent[]>;
  row(session: SessionId): Promise<Row | null>;
  findStart(owner: Owner, key: string): Promise<SessionId | null>;
  /** Newest first. */
  list(query: ListQuery): Promise<readonly Row[]>;
  /** Sessions that want driving at `now` (store's dueAt ≤ now), and behind them those whose turn it is to get a slot. */
  due(now: number, limit: number, slots?: number): Promise<readonly SessionId[]>;
  /** The earliest `dueAt` of all, for the sweeper's sleep; null when none. */
  nextDue(): Promise<number | null>;
  /** Keeps blobs ahead of the commit that will name them; a session need not be there yet. */
  put(session: SessionId, blobs: readonly Blob[]): Promise<void>;
  /** Throws `blob.missing`, or `blob.forged` when the bytes do not hash to the ref. */
  blob(session: SessionId, ref: BlobRef): Promise<Uint8Array>;
  /**
   * Keeps a batch in the place of all that stand behind its beginning. False, and nothing changes, when the batches that
   * stand do not reach up to there: then whoever asks begins anew, after event 0.
   */
  index(session: SessionId, batch: Batch): Promise<boolean>;
  /** The batches that stand, in order, each with what it has of these words. */
  search(session: SessionId, words: readonly string[]): Promise<readonly Batch[]>;
  /**
   * Takes the lease when it is free, lapsed by the store's clock, or its holder is provably dead: of another process
   * that is gone, or of this very holder, who asks again only when its actor before has ended. `clean` tells whether
   * the holder before let go by itself.
   */
  acquire(session: SessionId, holder: string, ttlMs: number): Promise<Acquired>;
  /** False when another epoch holds the lease by now, or its slot has gone to another while it had lapsed. */
  renew(session: SessionId, epoch: number, ttlMs: number): Promise<boolean>;
  /** Gives the session that has waited longest for the slot that this frees; null when none is freed or none waits. */
  release(session: SessionId, epoch: number): Promise<SessionId | null>;
  /** S9. `slots`: how many an owner has who has no number of its own. Renews the lease where it is granted. */
  claim(session: SessionId, epoch: number, slots: number, ttlMs: number): Promise<Claimed>;
  /** The lease stays and counts no more; gives what `release` gives. */
  free(session: SessionId, epoch: number): Promise<SessionId | null>;
  queue(owner: Owner): Promise<Queue>;
  /** The owner's own number of slots from here on; null takes it away. */
  setSlots(owner: Owner, slots: number | null): Promise<void>;
  /** An owner without any has no limits and nothing spent. Reads only. */
  budget(owner: Owner): Promise<OwnerBudget>;
  /** The owner's limits from here on; null lifts all of them. What was spent stays. */
  setBudget(owner: Owner, limits: Budget | null): Promise<void>;
  /** S7. */
  reserve(reservation: Reservation): Promise<Reserved>;
  /** What it was in the end takes the place of what was reserved. */
  settle(owner: Owner, key: string, actual: Spent): Promise<void>;
  close(): Promise<void>;
}
