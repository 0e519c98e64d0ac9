/**
 * Who works and who waits, on SQLite (port.ts S9). Slots are leases that count, in memory like all leases; the queue is a
 * column of the index rows, so it survives the process, and what takes a session out of it is a commit like any other.
 *
 * C1  A damaged session waits for nothing: it can never take its turn, and would keep everybody behind it from theirs.
 */

import type { Owner, SessionId } from '../../core/ids.ts';
import { asNumber, asText } from './cell.ts';
import type { Cells, Database } from './driver.ts';

interface Parts {
  readonly db: Database;
  /** Whether the lease of this session counts, and has not lapsed. */
  readonly isAtWork: (session: SessionId) => boolean;
  readonly damaged: { keys(): Iterable<SessionId> };
}

export interface Slots {
  add(owner: Owner, session: SessionId): void;
  working(owner: Owner): number;
  /** How many wait and come before this session. */
  ahead(owner: Owner, session: SessionId): number;
  /** The first that wait, in order. */
  waiting(owner: Owner, limit: number): readonly SessionId[];
  /** Owners for whom anybody waits. */
  owners(): readonly Owner[];
}

export function openSlots({ db, isAtWork, damaged }: Parts): Slots {
  const added = new Map<Owner, Set<SessionId>>();
  const sql = {
    owners: db.prepare(
      'SELECT DISTINCT CAST(owner AS BLOB) AS owner FROM sessions WHERE queued_at IS NOT NULL ORDER BY sessions.owner',
    ),
    waiting: db.prepare(`
      SELECT CAST(id AS BLOB) AS id FROM sessions
      WHERE owner = ? AND queued_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?))
      ORDER BY queued_at, sessions.id LIMIT ?`),
    since: db.prepare(
      'SELECT CAST(queued_at AS INTEGER) AS at FROM sessions WHERE id = ? AND queued_at IS NOT NULL',
    ),
    all: db.prepare(`
      SELECT count(*) AS n FROM sessions
      WHERE owner = ? AND queued_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?))`),
    before: db.prepare(`
      SELECT count(*) AS n FROM sessions
      WHERE owner = ? AND queued_at IS NOT NULL AND (queued_at, id) < (?, ?)
        AND id NOT IN (SELECT value FROM json_each(?))`),
  };

  function atWork(owner: Owner): readonly SessionId[] {
    const known = added.get(owner);
    if (!known) return [];
    for (const session of known) if (!isAtWork(session)) known.delete(session);
    return [...known];
  }

  /** Who has a slot and has not said so yet waits no more. */
  const notWaiting = (owner: Owner): string => JSON.stringify([...damaged.keys(), ...atWork(owner)]);

  return {
    add(owner, session) {
      added.set(owner, (added.get(owner) ?? new Set()).add(session));
    },
    working: (owner) => atWork(owner).length,
    ahead(owner, session) {
      const since = sql.since.get(session);
      const found = since
        ? sql.before.get(owner, asNumber(since.at), session, notWaiting(owner))
        : sql.all.get(owner, notWaiting(owner));
      return asNumber(found?.n);
    },
    waiting: (owner, limit) => sql.waiting.all(owner, notWaiting(owner), limit).map(idOf),
    owners: () => sql.owners.all().map(({ owner }) => asText(owner) as Owner),
  };
}

const idOf = ({ id }: Cells): SessionId => asText(id) as SessionId;
