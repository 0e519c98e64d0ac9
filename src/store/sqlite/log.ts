/**
 * Reading rows of the log and of the index, and refusing those that are not what was committed.
 *
 * R1  A page of events goes on without a gap from where it starts, and each event matches its checksum (chain.ts C1).
 * R2  A page that reaches the end must end where the index row says, under the checksum that it names. So a log can
 *     be whole or damaged, never quietly shorter. One that was erased begins at its tombstone (chain.ts C3).
 * R3  Text leaves SQLite as a blob (driver.ts D3); a cell of the wrong kind is `Rotten`.
 */

import type { SessionId } from '../../core/ids.ts';
import type { StoredEvent, Summary } from '../port.ts';
import { asBytes, asJson, asNumber, asText, Rotten } from './cell.ts';
import { type Guarded, genesis, guard, link, sameBytes, tomb } from './chain.ts';
import type { Cells, Database } from './driver.ts';

/** The members of the index row that commits and leases rely on. */
export interface Index extends Guarded {
  /** Whether the last holder let go by itself; true before the first. */
  readonly clean: boolean;
  readonly summary: Summary;
}

export interface Link {
  readonly event: StoredEvent;
  readonly hash: Uint8Array;
}

export interface Log {
  /** Null for a session that there is not. Throws `Rotten` when the row is not what was written. */
  index(session: SessionId): Index | null;
  /** Events after `after`, at most `limit`. Throws `Rotten` by R1 and R2. */
  page(session: SessionId, after: number, limit: number): readonly StoredEvent[];
  /** One event and its checksum, unchecked; null when there is none. */
  at(session: SessionId, seq: number): Link | null;
  /** The number of the last event that is there, whatever the index row says; 0 when none is. */
  last(session: SessionId): number;
  /** The number of its first event: 1, or that of its tombstone. */
  start(session: SessionId): number;
}

/** Above every number, and below every text: SQLite orders by type first, and a rotted cell can be of any. */
const NO_SEQ = '1e15';

const EVENT_CELLS = `
  CAST(seq AS INTEGER) AS seq, CAST(at AS INTEGER) AS at, CAST(kind AS BLOB) AS kind,
  CAST(version AS INTEGER) AS version, CAST(body AS BLOB) AS body, CAST(hash AS BLOB) AS hash`;

export function openLog(db: Database): Log {
  const selectIndex = db.prepare(`
    SELECT CAST(owner AS BLOB) AS owner, CAST(head AS INTEGER) AS head, CAST(chain AS BLOB) AS chain,
      CAST(epoch AS INTEGER) AS epoch, CAST(held AS INTEGER) AS held, CAST(guard AS INTEGER) AS guard,
      CAST(summary AS BLOB) AS summary
    FROM sessions WHERE id = ?`);
  const selectPage = db.prepare(
    `SELECT ${EVENT_CELLS} FROM events WHERE session = ? AND seq > ? AND seq < ${NO_SEQ} ORDER BY events.seq LIMIT ?`,
  );
  const selectOne = db.prepare(`SELECT ${EVENT_CELLS} FROM events WHERE session = ? AND seq = ?`);
  const selectFirst = db.prepare(
    `SELECT ${EVENT_CELLS} FROM events WHERE session = ? AND seq < ${NO_SEQ} ORDER BY events.seq LIMIT 1`,
  );
  const selectLast = db.prepare(
    `SELECT CAST(max(seq) AS INTEGER) AS seq FROM events WHERE session = ? AND seq < ${NO_SEQ}`,
  );

  return { index, page, at, last, start };

  function index(session: SessionId): Index | null {
    const cells = selectIndex.get(session);
    if (cells === undefined) return null;
    const guarded: Guarded = {
      owner: asText(cells.owner),
      head: asNumber(cells.head),
      chain: asBytes(cells.chain),
      epoch: asNumber(cells.epoch),
    };
    if (cells.guard !== guard(session, guarded))
      throw new Rotten('its index row does not match its checksum');
    return {
      ...guarded,
      clean: cells.held === 0,
      summary: asJson(cells.summary) as Summary,
    };
  }

  function page(session: SessionId, after: number, limit: number): readonly StoredEvent[] {
    if (limit < 1) return [];
    const rows = selectPage.all(session, after, limit);
    const row = rows.length < limit ? end(session) : null;
    if (row !== null && row.head < after && rows.length === 0) return [];
    const { events, chain, reached } = chained(session, after, rows);
    if (row !== null) checkEnd(row, reached, chain);
    return events;
  }

  /** Where the log should end; at 0 when there is no such session. */
  function end(session: SessionId): Pick<Index, 'head' | 'chain'> {
    const row = index(session);
    if (row === null && last(session) > 0) throw new Rotten('its index row is missing');
    return row ?? { head: 0, chain: genesis(session) };
  }

  function checkEnd(row: Pick<Index, 'head' | 'chain'>, found: number, chain: Uint8Array): void {
    if (found < row.head) throw new Rotten(`event ${found + 1} is missing`);
    if (found > row.head) throw new Rotten(`its index row ends before event ${found}`);
    if (!sameBytes(chain, row.chain)) throw new Rotten('its index row names another end');
  }

  function chained(session: SessionId, after: number, rows: readonly Cells[]) {
    const links = rows.map(toLink);
    const [first] = links;
    const begins = first !== undefined && isTombstone(session, first);
    let chain = begins ? tomb(session) : after === 0 ? genesis(session) : at(session, after)?.hash;
    if (chain === undefined) throw new Rotten(`event ${after} is missing`);
    let reached = begins ? first.event.seq - 1 : after;
    for (const { event, hash } of links) {
      reached += 1;
      if (event.seq !== reached) throw new Rotten(`event ${reached} is missing`);
      chain = link(chain, event);
      if (!sameBytes(chain, hash)) throw new Rotten(`event ${reached} does not match its checksum`);
    }
    return { events: links.map(({ event }) => event), chain, reached };
  }

  function start(session: SessionId): number {
    const cells = selectFirst.get(session);
    const first = cells === undefined ? null : toLink(cells);
    return first !== null && isTombstone(session, first) ? first.event.seq : 1;
  }

  function at(session: SessionId, seq: number): Link | null {
    const cells = selectOne.get(session, seq);
    return cells === undefined ? null : toLink(cells);
  }

  function last(session: SessionId): number {
    return asNumber(selectLast.get(session)?.seq ?? 0);
  }
}

const isTombstone = (session: SessionId, { event, hash }: Link): boolean =>
  sameBytes(link(tomb(session), event), hash);

function toLink(cells: Cells): Link {
  const event: StoredEvent = {
    seq: asNumber(cells.seq),
    at: asNumber(cells.at),
    kind: asText(cells.kind),
    version: asNumber(cells.version),
    body: asText(cells.body),
  };
  return { event, hash: asBytes(cells.hash) };
}
