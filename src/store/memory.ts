/**
 * The reference store: what the port means, in memory, without a machine. Several workers may share one.
 *
 * M1  Deterministic: no timer, no clock but the one it is given, nothing resolves later than a microtask.
 * M2  Each call runs from start to end without letting another in, so its checks and its changes are one (S1, S2).
 * M3  Nothing handed in or out can change what is kept: bytes are copied, events are frozen copies.
 *
 * It outlives `close`: a simulated machine dies and the next one opens the same store.
 */

import type { BlobRef, Owner, SessionId } from '../core/ids.ts';
import { assert } from '../lib/assert.ts';
import type { Clock } from '../lib/clock.ts';
import {
  awaitingIn,
  blobMissing,
  checkBatch,
  checkBlob,
  checkBlobs,
  checkCommit,
  sessionUnknown,
} from './check.ts';
import {
  type Account,
  type Books,
  EMPTY_OWNER,
  type Entered,
  type Hold,
  reserve,
  settle,
  withSlots,
} from './ledger.ts';
import type {
  Acquired,
  Batch,
  Blob,
  Commit,
  CommitResult,
  ListQuery,
  OwnerBudget,
  Row,
  Store,
  StoredEvent,
  Summary,
} from './port.ts';

export interface MemoryStore extends Store {
  /** The word of whoever watches the workers: `holder` is dead, or all are. Their leases fall to the next who asks. */
  bury(holder?: string): void;
}

interface Lease {
  readonly holder: string;
  readonly untilMs: number;
  /** S9: by which number it was granted a slot; null while it counts for none. */
  readonly slots: number | null;
}

interface Kept {
  readonly id: SessionId;
  readonly events: StoredEvent[];
  /** S8. */
  batches: readonly Batch[];
  readonly startedAt: number;
  summary: Summary;
  epoch: number;
  lease: Lease | null;
  /** Whether the last holder let go by itself; true before the first. */
  clean: boolean;
}

export function memoryStore(clock: Pick<Clock, 'now'>): MemoryStore {
  const sessions = new Map<SessionId, Kept>();
  const starts = new Map<string, SessionId>();
  const owners = new Map<Owner, OwnerBudget>();
  const accounts = new Map<string, Account>();
  const holds = new Map<string, Hold>();
  const blobs = new Map<SessionId, Map<BlobRef, Uint8Array>>();

  return {
    async commit(commit) {
      checkCommit(commit);
      return refusal(commit) ?? write(commit);
    },

    async read(session, after, limit) {
      const events = sessions.get(session)?.events ?? [];
      const from = Math.max(0, after - firstOf(events) + 1);
      return events.slice(from, from + limit);
    },

    async row(session) {
      const kept = sessions.get(session);
      return kept ? toRow(kept) : null;
    },

    async findStart(owner, key) {
      return starts.get(startName(owner, key)) ?? null;
    },

    async list(query) {
      const rows = [...sessions.values()].sort(newestFirst);
      const from = query.after === undefined ? 0 : rows.findIndex((kept) => kept.id === query.after) + 1;
      if (query.after !== undefined && from === 0) return [];
      return rows
        .slice(from)
        .filter((kept) => matches(kept.summary, query))
        .slice(0, query.limit)
        .map(toRow);
    },

    async due(now, limit, slots = 0) {
      const due = [...sessions.values()]
        .filter((kept) => dueAt(kept) <= now)
        .sort((a, b) => dueAt(a) - dueAt(b) || compare(a.id, b.id));
      return [...due, ...nextIn(slots)].slice(0, limit).map((kept) => kept.id);
    },

    async nextDue() {
      const next = Math.min(...[...sessions.values()].map(dueAt));
      return next === Infinity ? null : next;
    },

    async put(session, ahead) {
      checkBlobs(session, ahead);
      if (!isErased(session)) keepBlobs(session, ahead);
    },

    async blob(session, ref) {
      const bytes = blobs.get(session)?.get(ref);
      if (!bytes) throw blobMissing(session, ref);
      checkBlob(session, ref, bytes);
      return bytes.slice();
    },

    async index(session, batch) {
      const kept = sessions.get(session);
      if (!kept) throw sessionUnknown();
      checkBatch(batch);
      if (isErased(session)) return false;
      const before = kept.batches.filter(({ upTo }) => upTo <= batch.after);
      if ((before.at(-1)?.upTo ?? 0) !== batch.after) return false;
      kept.batches = [...before, structuredClone(batch)];
      return true;
    },

    async search(session, words) {
      return (sessions.get(session)?.batches ?? []).map((batch) => ({
        ...batch,
        words: new Map(
          words.flatMap((word) => {
            const found = batch.words.get(word);
            return found ? [[word, found.slice()] as const] : [];
          }),
        ),
      }));
    },

    async acquire(session, holder, ttlMs): Promise<Acquired> {
      const kept = sessions.get(session);
      if (!kept) throw sessionUnknown();
      const { lease } = kept;
      if (lease && lease.holder !== holder && lease.untilMs > clock.now())
        return { status: 'held', holder: lease.holder, untilMs: lease.untilMs };
      const clean = kept.clean;
      kept.epoch += 1;
      kept.lease = { holder, untilMs: clock.now() + ttlMs, slots: null };
      kept.clean = false;
      return { status: 'acquired', epoch: kept.epoch, clean };
    },

    async renew(session, epoch, ttlMs) {
      const kept = sessions.get(session);
      if (!kept?.lease || kept.epoch !== epoch) return false;
      const { slots } = kept.lease;
      if (slots !== null && !isLive(kept) && isFull(kept.summary.owner, slots)) return false;
      kept.lease = { ...kept.lease, untilMs: clock.now() + ttlMs };
      return true;
    },

    async release(session, epoch) {
      const kept = sessions.get(session);
      if (!kept?.lease || kept.epoch !== epoch) return null;
      const { slots } = kept.lease;
      kept.lease = null;
      kept.clean = true;
      return slots === null ? null : firstWaiting(kept.summary.owner);
    },

    async claim(session, epoch, slots, ttlMs) {
      const kept = sessions.get(session);
      if (!kept || kept.epoch !== epoch || !kept.lease) {
        return { status: 'fenced', epoch: kept?.epoch ?? 0 };
      }
      if (isAtWork(kept)) return { status: 'granted' };
      const { owner } = kept.summary;
      const line = waitingOf(owner);
      const at = line.indexOf(kept);
      const ahead = at === -1 ? line.length : at;
      if (isFull(owner, slots, ahead)) {
        return { status: 'full', place: ahead + 1 };
      }
      kept.lease = { ...kept.lease, slots, untilMs: clock.now() + ttlMs };
      return { status: 'granted' };
    },

    async free(session, epoch) {
      const kept = sessions.get(session);
      if (!kept?.lease || kept.lease.slots === null || kept.epoch !== epoch) return null;
      kept.lease = { ...kept.lease, slots: null };
      return firstWaiting(kept.summary.owner);
    },

    async queue(owner) {
      return {
        slots: owners.get(owner)?.slots ?? null,
        working: atWork(owner),
        waiting: waitingOf(owner).map((kept) => kept.id),
      };
    },

    async setSlots(owner, slots) {
      owners.set(owner, withSlots(owners.get(owner) ?? EMPTY_OWNER, slots));
    },

    async budget(owner) {
      return owners.get(owner) ?? EMPTY_OWNER;
    },

    async setBudget(owner, limits) {
      owners.set(owner, { ...(owners.get(owner) ?? EMPTY_OWNER), limits: limits ?? {} });
    },

    async reserve(asked) {
      const { owner, session, key } = asked;
      const { result, entered } = reserve(books(owner, key, session), asked);
      if (entered) enter(owner, key, session, entered);
      return result;
    },

    async settle(owner, key, actual) {
      const hold = holds.get(key);
      const entered = hold ? settle(books(owner, key, hold.session), actual) : null;
      if (hold && entered) enter(owner, key, hold.session, entered);
    },

    async close() {},

    bury(holder) {
      for (const kept of sessions.values()) {
        if (holder === undefined || kept.lease?.holder === holder) kept.lease = null;
      }
    },
  };

  /** S10. */
  function isErased(session: SessionId): boolean {
    return firstOf(sessions.get(session)?.events ?? []) > 1;
  }

  function isLive({ lease }: Kept): boolean {
    return lease !== null && lease.untilMs > clock.now();
  }

  function isAtWork(kept: Kept): boolean {
    return kept.lease !== null && kept.lease.slots !== null && isLive(kept);
  }

  function isFull(owner: Owner, slots: number, ahead = 0): boolean {
    return atWork(owner) + ahead >= (owners.get(owner)?.slots ?? slots);
  }

  function atWork(owner: Owner): number {
    return [...sessions.values()].filter((kept) => kept.summary.owner === owner && isAtWork(kept)).length;
  }

  /** S9. Who has a slot and has not said so yet waits no more. */
  function waitingOf(owner: Owner): readonly Kept[] {
    return [...sessions.values()]
      .filter(({ summary }) => summary.owner === owner && summary.queuedAt !== undefined)
      .filter((kept) => !isAtWork(kept))
      .sort((a, b) => (a.summary.queuedAt ?? 0) - (b.summary.queuedAt ?? 0) || compare(a.id, b.id));
  }

  function firstWaiting(owner: Owner): SessionId | null {
    return waitingOf(owner)[0]?.id ?? null;
  }

  function nextIn(slots: number): readonly Kept[] {
    const waiting = [...sessions.values()].filter(({ summary }) => summary.queuedAt !== undefined);
    const all = new Set(waiting.map(({ summary }) => summary.owner));
    return [...all].flatMap((owner) =>
      waitingOf(owner).slice(0, Math.max(0, (owners.get(owner)?.slots ?? slots) - atWork(owner))),
    );
  }

  function books(owner: Owner, key: string, session: string): Books {
    return {
      owner: owners.get(owner) ?? null,
      account: accounts.get(session) ?? null,
      hold: holds.get(key) ?? null,
    };
  }

  function enter(owner: Owner, key: string, session: string, entered: Entered): void {
    owners.set(owner, entered.owner);
    accounts.set(session, entered.account);
    if (entered.hold) holds.set(key, entered.hold);
    else holds.delete(key);
  }

  function refusal(commit: Commit): CommitResult | null {
    const kept = sessions.get(commit.session);
    const standing = standingStart(commit);
    const epoch = kept?.epoch ?? 0;
    const head = kept ? headOf(kept) : 0;
    if (standing !== null) return { status: 'exists', session: standing };
    if (commit.epoch !== null && commit.epoch !== epoch) return { status: 'fenced', epoch };
    if (commit.head !== head) return { status: 'conflict', head };
    return null;
  }

  function standingStart({ head, startKey, summary }: Commit): SessionId | null {
    if (head !== 0 || startKey == null) return null;
    return starts.get(startName(summary.owner, startKey)) ?? null;
  }

  function write(commit: Commit): CommitResult {
    const kept = sessions.get(commit.session) ?? create(commit);
    assert(kept.summary.owner === commit.summary.owner, 'a session keeps its owner');
    if (commit.erases) erase(kept);
    for (const event of commit.events) kept.events.push(Object.freeze({ ...event }));
    keepBlobs(commit.session, commit.blobs);
    if (commit.sheds) kept.batches = [];
    for (const ref of commit.sheds ?? []) blobs.get(commit.session)?.delete(ref);
    kept.summary = { ...commit.summary };
    return { status: 'committed' };
  }

  function erase(kept: Kept): void {
    kept.events.length = 0;
    kept.batches = [];
    blobs.delete(kept.id);
  }

  function keepBlobs(session: SessionId, kept: readonly Blob[]): void {
    const known = blobs.get(session) ?? new Map<BlobRef, Uint8Array>();
    for (const { ref, bytes } of kept) known.set(ref, bytes.slice());
    blobs.set(session, known);
  }

  function create({ session, summary, startKey }: Commit): Kept {
    const kept: Kept = {
      id: session,
      events: [],
      batches: [],
      startedAt: summary.startedAt,
      summary,
      epoch: 0,
      lease: null,
      clean: true,
    };
    sessions.set(session, kept);
    if (startKey != null) starts.set(startName(summary.owner, startKey), session);
    return kept;
  }
}

function toRow(kept: Kept): Row {
  return { ...kept.summary, id: kept.id, head: headOf(kept), epoch: kept.epoch };
}

const firstOf = (events: readonly StoredEvent[]): number => events[0]?.seq ?? 1;
const headOf = ({ events }: Kept): number => events.at(-1)?.seq ?? 0;

function matches(summary: Summary, { owner, phase, awaiting }: ListQuery): boolean {
  if (awaiting && awaitingIn(summary) === 0) return false;
  return (owner === undefined || summary.owner === owner) && (phase === undefined || summary.phase === phase);
}

function dueAt(kept: Kept): number {
  return kept.summary.dueAt ?? Infinity;
}

function newestFirst(a: Kept, b: Kept): number {
  return b.startedAt - a.startedAt || compare(b.id, a.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** An owner has no white space, so the two cannot run into each other. */
function startName(owner: string, key: string): string {
  return `${owner} ${key}`;
}
