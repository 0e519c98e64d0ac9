/**
 * The port on SQLite: what each call reads and writes. Opened by `open.ts`, which also closes it.
 *
 * Q1  Commits go through the group (group.ts); an outcome is told once it is flushed to disk, and witnessed (S1).
 * Q2  A session that is known to be damaged takes no commit and gives no lease until somebody has decided.
 * Q3  Leases live in memory: the directory is ours alone, so every holder of an earlier instance is dead. The epoch is
 *     on disk, and so is whether the holder let go by itself.
 * Q4  What a commit has to know of a session is kept in `heads` after it was read once: nobody else can change the
 *     file. Whenever a transaction is undone, all of it is forgotten.
 */

import { OutlastError } from '../../core/error.ts';
import type { BlobRef, Owner, SessionId } from '../../core/ids.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  awaitingIn,
  blobForged,
  blobMissing,
  checkBatch,
  checkBlob,
  checkBlobs,
  checkCommit,
  sessionUnknown,
} from '../check.ts';
import type { Acquired, Blob, Commit, CommitResult, Store } from '../port.ts';
import { asBytes, asNumber, asText, Rotten } from './cell.ts';
import { type Guarded, genesis, guard, link, short, tomb } from './chain.ts';
import { type Damage, damageError, inspect, isDamage } from './damage.ts';
import type { Database } from './driver.ts';
import { erase, isErased } from './erase.ts';
import { group } from './group.ts';
import { openLedger } from './ledger.ts';
import { openList } from './list.ts';
import type { Index, Log } from './log.ts';
import { openSlots } from './slots.ts';
import type { Mark } from './witness.ts';
import { openWords } from './words.ts';

/** What a store works on. */
export interface Parts {
  readonly db: Database;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'>;
  /** Sessions known to be damaged. */
  readonly damaged: Map<SessionId, Damage>;
  /** What commits have to know, of the sessions that were lately committed to (Q4). */
  readonly heads: Map<SessionId, Known>;
  /** Something in the file was not as it was written: look at all of it at the next start. */
  readonly suspect: () => void;
  /** Gets the new heads of logs, once they are durable and before anybody hears of them. Does not throw. */
  readonly durable: (marks: readonly Mark[]) => void;
}

export interface Known extends Guarded {
  /** When this process wrote it; a row that was read may have rotted there. */
  readonly dueAt?: number | null;
}

/** The port without its end, and what is only ours. */
export interface Operations extends Omit<Store, 'close'> {
  /** Commits what is queued, now. */
  flush(): void;
}

interface Lease {
  readonly epoch: number;
  readonly holder: string;
  readonly untilMs: number;
  /** Whose slot it takes, and by which number it was granted; null while it takes none. */
  readonly slot: { readonly of: Owner; readonly most: number } | null;
}

interface Applied {
  readonly result: CommitResult;
  readonly mark: Mark | null;
}

export function operations({ db, log, clock, damaged, heads, suspect, durable }: Parts): Operations {
  const sql = statements(db);
  const leases = new Map<SessionId, Lease>();
  const ledger = openLedger(db);
  const list = openList(db);
  const words = openWords(db);
  const isLive = ({ untilMs }: Lease): boolean => untilMs > clock.now();
  const isAtWork = (session: SessionId): boolean => {
    const lease = leases.get(session);
    return lease !== undefined && lease.slot !== null && isLive(lease);
  };
  const slots = openSlots({ db, damaged, isAtWork });
  const commits = group<Applied>(db, {
    durable: (applied) => durable(applied.flatMap(({ mark }) => mark ?? [])),
    undone: () => heads.clear(),
  });

  return {
    flush: commits.flush,

    async commit(commit) {
      checkCommit(commit);
      const applied = await commits.run(() => whole(commit.session, () => apply(commit)));
      return applied.result;
    },

    async read(session, after, limit) {
      const events = readable(session, () => log.page(session, after, Math.min(limit, MOST)));
      const damage = damaged.get(session);
      if (damage && events.length < limit) throw damageError(damage);
      return events;
    },

    async row(session) {
      return readable(session, () => {
        const index = indexOf(session);
        return index && { ...index.summary, id: session, head: index.head, epoch: index.epoch };
      });
    },

    async findStart(owner, key) {
      return noticing(() => startOf(owner, key));
    },

    async list(query) {
      return noticing(() => list({ ...query, limit: Math.min(query.limit, MOST) }));
    },

    async due(now, limit, most = 0) {
      const rows = noticing(() => sql.due.all(now, untouchable(), Math.min(limit, MOST)));
      const due = rows.map((cells) => asText(cells.id) as SessionId);
      return due.length < limit ? [...due, ...noticing(() => nextIn(most))].slice(0, limit) : due;
    },

    async nextDue() {
      const next = noticing(() => sql.nextDue.get(untouchable()))?.due_at ?? null;
      return next === null ? null : asNumber(next);
    },

    async put(session, blobs) {
      checkBlobs(session, blobs);
      await entering(() => (isErased(log, session) ? undefined : putBlobs(session, blobs)));
    },

    async blob(session, ref) {
      const bytes = blobBytes(session, ref);
      if (bytes === null) throw blobMissing(session, ref);
      checkBlob(session, ref, bytes);
      return bytes;
    },

    async index(session, batch) {
      checkBatch(batch);
      commits.flush();
      if (whole(session, () => indexOf(session)) === null) throw sessionUnknown();
      return noticing(() => !isErased(log, session) && db.transaction(() => words.index(session, batch)));
    },

    async search(session, asked) {
      return noticing(() => words.search(session, asked));
    },

    async acquire(session, holder, ttlMs): Promise<Acquired> {
      commits.flush();
      const lease = leases.get(session);
      if (lease && lease.holder !== holder && isLive(lease)) {
        return { status: 'held', holder: lease.holder, untilMs: lease.untilMs };
      }
      const { epoch, clean } = whole(session, () => db.transaction(() => nextEpoch(session)));
      heads.delete(session);
      leases.set(session, { epoch, holder, untilMs: clock.now() + ttlMs, slot: null });
      return { status: 'acquired', epoch, clean };
    },

    async renew(session, epoch, ttlMs) {
      const lease = leases.get(session);
      if (lease?.epoch !== epoch) return false;
      const { slot } = lease;
      if (slot !== null && !isLive(lease) && isFull(slot.of, slot.most)) return false;
      leases.set(session, { ...lease, untilMs: clock.now() + ttlMs });
      return true;
    },

    async release(session, epoch) {
      commits.flush();
      const lease = leases.get(session);
      if (lease?.epoch !== epoch) return null;
      db.transaction(() => sql.release.run(session));
      leases.delete(session);
      return firstWaiting(lease.slot);
    },

    async claim(session, epoch, most, ttlMs) {
      commits.flush();
      const lease = leases.get(session);
      const row = whole(session, () => indexOf(session));
      if (lease?.epoch !== epoch || !row) return { status: 'fenced', epoch: row?.epoch ?? 0 };
      if (isAtWork(session)) return { status: 'granted' };
      const owner = row.owner as Owner;
      return noticing(() => {
        const ahead = slots.ahead(owner, session);
        if (isFull(owner, most, ahead)) return { status: 'full', place: ahead + 1 };
        leases.set(session, { ...lease, slot: { of: owner, most }, untilMs: clock.now() + ttlMs });
        slots.add(owner, session);
        return { status: 'granted' };
      });
    },

    async free(session, epoch) {
      commits.flush();
      const lease = leases.get(session);
      if (lease?.epoch !== epoch) return null;
      leases.set(session, { ...lease, slot: null });
      return firstWaiting(lease.slot);
    },

    async queue(owner) {
      commits.flush();
      return noticing(() => ({
        slots: ledger.budget(owner).slots ?? null,
        working: slots.working(owner),
        waiting: slots.waiting(owner, MOST),
      }));
    },
    setSlots: (owner, most) => entering(() => ledger.setSlots(owner, most)),

    async budget(owner) {
      return noticing(() => ledger.budget(owner));
    },
    setBudget: (owner, limits) => entering(() => ledger.setBudget(owner, limits)),
    reserve: (asked) => entering(() => ledger.reserve(asked)),
    settle: (owner, key, actual) => entering(() => ledger.settle(owner, key, actual)),
  };

  function slotsOf(owner: Owner, most: number): number {
    return ledger.budget(owner).slots ?? most;
  }

  function isFull(owner: Owner, most: number, ahead = 0): boolean {
    return slots.working(owner) + ahead >= slotsOf(owner, most);
  }

  function firstWaiting(slot: Lease['slot']): SessionId | null {
    return slot === null ? null : noticing(() => slots.waiting(slot.of, 1)[0] ?? null);
  }

  function nextIn(most: number): readonly SessionId[] {
    return slots
      .owners()
      .flatMap((owner) => slots.waiting(owner, Math.max(0, slotsOf(owner, most) - slots.working(owner))));
  }

  /** Q1, for the owner's ledger: it shares a transaction with the commits of the same tick. */
  async function entering<T>(work: () => T): Promise<T> {
    let entered: T | undefined;
    await commits.run(() => {
      entered = noticing(work);
      return { result: { status: 'committed' }, mark: null };
    });
    return entered as T;
  }

  function apply(commit: Commit): Applied {
    const before = heads.get(commit.session) ?? indexOf(commit.session);
    const refused = refusal(commit, before);
    if (refused) return { result: refused, mark: null };
    const head: Guarded = {
      owner: commit.summary.owner,
      head: commit.head + commit.events.length,
      chain: insert(commit, before?.chain ?? genesis(commit.session)),
      epoch: before?.epoch ?? 0,
    };
    assert(head.owner === (before?.owner ?? head.owner), 'a session keeps its owner');
    if (before) update(commit, head, before);
    else create(commit, head);
    keep(commit.session, { ...head, dueAt: commit.summary.dueAt });
    const mark = { session: commit.session, seq: head.head, sum: short(head.chain) };
    return { result: { status: 'committed' }, mark };
  }

  function refusal(commit: Commit, before: Known | null): CommitResult | null {
    const epoch = before?.epoch ?? 0;
    const head = before?.head ?? 0;
    if (commit.head === 0 && commit.startKey != null) {
      const standing = startOf(commit.summary.owner, commit.startKey);
      if (standing !== null) return { status: 'exists', session: standing };
    }
    if (commit.epoch !== null && commit.epoch !== epoch) return { status: 'fenced', epoch };
    if (commit.head !== head) return { status: 'conflict', head };
    return null;
  }

  /** Appends events and blobs; gives the checksum of the last event. */
  function insert({ session, events, blobs, sheds, erases }: Commit, before: Uint8Array): Uint8Array {
    if (erases) erase(db, session);
    let chain = erases ? tomb(session) : before;
    for (const event of events) {
      chain = link(chain, event);
      sql.event.run(session, event.seq, event.at, event.kind, event.version, event.body, chain);
    }
    putBlobs(session, blobs);
    if (sheds) words.forget(session);
    for (const ref of sheds ?? []) sql.shed.run(session, ref);
    return chain;
  }

  function putBlobs(session: SessionId, blobs: readonly Blob[]): void {
    for (const { ref, bytes } of blobs) sql.putBlob.run(session, ref, bytes);
  }

  function create({ session, summary, startKey }: Commit, head: Guarded): void {
    const { owner, startedAt, phase, dueAt, queuedAt = null } = summary;
    const key = startKey == null ? null : JSON.stringify(startKey);
    const text = JSON.stringify(summary);
    const { head: seq, chain } = head;
    sql.create.run(
      ...[session, owner, key, startedAt, phase, dueAt, seq, chain, guard(session, head), text],
      ...[awaitingIn(summary), queuedAt],
    );
  }

  /** A row that stays due as it was leaves the index over it alone: that is a page less to write, each time. */
  function update({ session, summary }: Commit, head: Guarded, before: Known): void {
    const { phase, dueAt, queuedAt = null } = summary;
    const text = JSON.stringify(summary);
    const sum = guard(session, head);
    sql.update.run(phase, head.head, head.chain, sum, text, awaitingIn(summary), queuedAt, session);
    if (dueAt !== before.dueAt) sql.updateDue.run(dueAt, session);
  }

  function keep(session: SessionId, head: Known): void {
    if (heads.size >= KEPT_HEADS) heads.clear();
    heads.set(session, head);
  }

  function nextEpoch(session: SessionId): { epoch: number; clean: boolean } {
    const row = indexOf(session);
    if (!row) throw sessionUnknown();
    const epoch = row.epoch + 1;
    sql.hold.run(epoch, guard(session, { ...row, epoch }), session);
    return { epoch, clean: row.clean };
  }

  function startOf(owner: string, key: string): SessionId | null {
    const cells = sql.start.get(owner, JSON.stringify(key));
    return cells ? (asText(cells.id) as SessionId) : null;
  }

  function blobBytes(session: SessionId, ref: BlobRef): Uint8Array | null {
    try {
      const cells = sql.blob.get(session, ref);
      return cells ? asBytes(cells.bytes) : null;
    } catch (error) {
      throw isDamage(error) ? blobForged(session, ref, error) : error;
    }
  }

  /** The index row. A session with events and without a row is damaged, not unknown. */
  function indexOf(session: SessionId): Index | null {
    const row = log.index(session);
    const isKnown = row !== null || damaged.has(session) || log.last(session) > 0;
    if (isKnown && row === null) throw new Rotten('its index row is missing');
    return row;
  }

  /** Q2. */
  function whole<T>(session: SessionId, work: () => T): T {
    const damage = damaged.get(session);
    if (damage) throw damageError(damage);
    return readable(session, work);
  }

  /** Runs `work`; when it meets damage, says what of the log can be read. */
  function readable<T>(session: SessionId, work: () => T): T {
    try {
      return noticing(work);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const damage = damaged.get(session) ?? inspect(log, session, null);
      if (damage === null) throw unplaced(session, error);
      damaged.set(session, damage);
      throw damageError(damage);
    }
  }

  function noticing<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (isDamage(error)) suspect();
      throw error;
    }
  }

  function untouchable(): string {
    return JSON.stringify([...damaged.keys()]);
  }
}

const KEPT_HEADS = 10_000;

/** More rows than anybody means, and a number that SQLite takes. */
const MOST = 2 ** 31 - 1;

function statements(db: Database) {
  return {
    event: db.prepare(
      'INSERT INTO events (session, seq, at, kind, version, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    // `ifnull`: some drivers bind no bytes as NULL. A blob that is there already is mended.
    putBlob: db.prepare(`
      INSERT INTO blobs (session, ref, bytes) VALUES (?, ?, ifnull(?, x''))
      ON CONFLICT (session, ref) DO UPDATE SET bytes = excluded.bytes`),
    shed: db.prepare('DELETE FROM blobs WHERE session = ? AND ref = ?'),
    blob: db.prepare('SELECT CAST(bytes AS BLOB) AS bytes FROM blobs WHERE session = ? AND ref = ?'),
    create: db.prepare(`
      INSERT INTO sessions (id, owner, start_key, started_at, phase, due_at, head, chain, epoch, held, guard, summary, awaiting,
        queued_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)`),
    update: db.prepare(
      'UPDATE sessions SET phase = ?, head = ?, chain = ?, guard = ?, summary = ?, awaiting = ?, queued_at = ? WHERE id = ?',
    ),
    updateDue: db.prepare('UPDATE sessions SET due_at = ? WHERE id = ?'),
    hold: db.prepare('UPDATE sessions SET epoch = ?, held = 1, guard = ? WHERE id = ?'),
    release: db.prepare('UPDATE sessions SET held = 0 WHERE id = ?'),
    start: db.prepare('SELECT CAST(id AS BLOB) AS id FROM sessions WHERE owner = ? AND start_key = ?'),
    due: db.prepare(`
      SELECT CAST(id AS BLOB) AS id FROM sessions
      WHERE due_at <= ? AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at, sessions.id LIMIT ?`),
    // In the order of the index, up to the first: every parked session is due some day, and is not to be counted each second.
    nextDue: db.prepare(`
      SELECT CAST(due_at AS REAL) AS due_at FROM sessions
      WHERE due_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY sessions.due_at LIMIT 1`),
  };
}

/** Damage that is neither in the log nor in the index row, as in a page that an insert would have touched. */
function unplaced(session: SessionId, error: unknown): OutlastError {
  if (error instanceof OutlastError) return error;
  return new OutlastError('log.damaged', `The data of ${session} is damaged.`, { cause: error });
}
