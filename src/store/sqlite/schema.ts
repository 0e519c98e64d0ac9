/**
 * Tables, and the numbered steps from one version of them to the next.
 *
 * V1  `SCHEMA` is the schema of today, whole. A file of version n gets the steps from n on; both ways end in the same
 *     schema, and a test compares them.
 * V2  A file that a newer version wrote is refused before anything in it is changed.
 * V3  Before the first step the file is copied aside; all steps and the new number are one transaction.
 *
 * Rowid tables with a unique index: without rowids a body of a kilobyte spills every row to a page of its own.
 * Columns of `sessions` are what is asked for; the rest of the index row is the JSON in `summary`.
 */

import { OutlastError } from '../../core/error.ts';
import type { Files } from '../files.ts';
import { asNumber } from './cell.ts';
import type { Database } from './driver.ts';

const BUDGETS = `
-- The ledger of an owner: one row for the owner (session ''), and one for each session.
CREATE TABLE budgets (
  owner   TEXT NOT NULL,
  session TEXT NOT NULL,
  body    TEXT NOT NULL, -- JSON
  UNIQUE (owner, session)
);

-- Reservations that are not settled; those whose worker died stay.
CREATE TABLE holds (
  owner TEXT NOT NULL,
  key   TEXT NOT NULL,
  body  TEXT NOT NULL, -- JSON
  UNIQUE (owner, key)
);
`;

const WORDS = `
-- The index of what logs say, in batches of events. Derived: what is gone or damaged is made again from the log.
CREATE TABLE batches (
  id       INTEGER PRIMARY KEY,
  session  TEXT    NOT NULL,
  after    INTEGER NOT NULL,
  up_to    INTEGER NOT NULL,
  passages BLOB    NOT NULL,
  sum      INTEGER NOT NULL, -- checksum of passages
  UNIQUE (session, up_to)
);

CREATE TABLE words (
  batch INTEGER NOT NULL,
  word  TEXT    NOT NULL,
  found BLOB    NOT NULL,
  sum   INTEGER NOT NULL, -- checksum of word and found
  PRIMARY KEY (batch, word)
) WITHOUT ROWID;
`;

export const SCHEMA = `
CREATE TABLE sessions (
  id         TEXT    NOT NULL PRIMARY KEY,
  owner      TEXT    NOT NULL,
  start_key  TEXT,             -- as JSON, so that every character counts
  started_at INTEGER NOT NULL, -- of the first commit; lists stand on it
  phase      TEXT    NOT NULL,
  due_at     INTEGER,
  head       INTEGER NOT NULL,
  chain      BLOB    NOT NULL, -- checksum of the event at head
  epoch      INTEGER NOT NULL,
  held       INTEGER NOT NULL, -- 1 from acquire to release: the next holder learns whether it was let go
  guard      INTEGER NOT NULL, -- checksum of owner, head, chain and epoch
  summary    TEXT    NOT NULL,
  awaiting   INTEGER NOT NULL DEFAULT 0, -- things that rest until a person does something
  queued_at  INTEGER           -- since when it waits for a slot of its owner
);
CREATE UNIQUE INDEX sessions_by_start ON sessions (owner, start_key) WHERE start_key IS NOT NULL;
CREATE INDEX sessions_by_age ON sessions (started_at DESC, id DESC);
CREATE INDEX sessions_by_owner ON sessions (owner, started_at DESC, id DESC);
CREATE INDEX sessions_by_due ON sessions (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX sessions_by_awaiting ON sessions (owner, started_at DESC, id DESC) WHERE awaiting > 0;
CREATE INDEX sessions_by_queue ON sessions (owner, queued_at, id) WHERE queued_at IS NOT NULL;

CREATE TABLE events (
  session TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  version INTEGER NOT NULL,
  body    TEXT    NOT NULL,
  hash    BLOB    NOT NULL, -- over this event and the hash before it
  UNIQUE (session, seq)
);

CREATE TABLE blobs (
  session TEXT NOT NULL,
  ref     TEXT NOT NULL, -- SHA-256 of bytes
  bytes   BLOB NOT NULL,
  UNIQUE (session, ref)
);

-- What stood behind a damaged place when somebody decided to go on without it.
CREATE TABLE set_aside (
  session TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  version INTEGER NOT NULL,
  body    TEXT    NOT NULL,
  hash    BLOB    NOT NULL,
  aside_at INTEGER NOT NULL
);
${BUDGETS}${WORDS}`;

const EVENT = {
  session: 'text',
  seq: 'integer',
  at: 'integer',
  kind: 'text',
  version: 'integer',
  body: 'text',
  hash: 'blob',
};

/** Cells that every row of a table has, with the types they are stored as. */
export const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sessions: { id: 'text', owner: 'text', head: 'integer', chain: 'blob', epoch: 'integer', guard: 'integer' },
  events: EVENT,
  blobs: { session: 'text', ref: 'text', bytes: 'blob' },
  set_aside: EVENT,
  budgets: { owner: 'text', session: 'text', body: 'text' },
  holds: { owner: 'text', key: 'text', body: 'text' },
};

/** Step n (from 0) leads from version n + 1 to version n + 2. Numbered for ever: add at the end, never edit. */
export const STEPS: readonly string[] = [
  // What awaits a person is asked for over all sessions of an owner. A summary that is damaged counts as none.
  `ALTER TABLE sessions ADD COLUMN awaiting INTEGER NOT NULL DEFAULT 0;
   UPDATE sessions SET awaiting = CAST(json_extract(summary, '$.openDecisions') AS INTEGER)
     WHERE json_valid(summary) AND json_extract(summary, '$.openDecisions') > 0;
   CREATE INDEX sessions_by_awaiting ON sessions (owner, started_at DESC, id DESC) WHERE awaiting > 0;`,
  BUDGETS,
  // Empty: the index of a log is made when it is first searched.
  WORDS,
  // Before there were slots, nobody waited for one.
  `ALTER TABLE sessions ADD COLUMN queued_at INTEGER;
   CREATE INDEX sessions_by_queue ON sessions (owner, queued_at, id) WHERE queued_at IS NOT NULL;`,
];

export interface Versions {
  readonly schema: string;
  readonly steps: readonly string[];
}

const OURS: Versions = { schema: SCHEMA, steps: STEPS };

/** Throws when a newer version wrote the file (V2). Reads its header alone, before SQLite opens it. */
export function refuseNewer(files: Files, path: string, versions = OURS): void {
  const found = versionInHeader(files.read(path, 64));
  const newest = versions.steps.length + 1;
  if (found > newest) throw newer(path, found, newest);
}

/** Brings the tables to this version. Needs the lock. */
export function migrate(db: Database, files: Files, path: string, versions = OURS): void {
  const newest = versions.steps.length + 1;
  const found = asNumber(db.prepare('PRAGMA user_version').get()?.user_version);
  if (found > newest) throw newer(path, found, newest);
  if (found === newest) return;
  if (found > 0) copyAside(db, files, `${path}.v${found}`);
  db.transaction(() => {
    for (const sql of found === 0 ? [versions.schema] : versions.steps.slice(found - 1)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${newest}`);
  });
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // The number must be in the header, where `refuseNewer` looks.
}

/** Throws `log.damaged` when the tables are not what they were made as: the page that describes them is rotten. */
export function checkTables(db: Database, path: string): void {
  for (const [table, cells] of Object.entries(TABLES)) {
    try {
      db.prepare(`SELECT ${Object.keys(cells).join(', ')} FROM ${table}`);
    } catch (cause) {
      throw new OutlastError('log.damaged', `The table ${table} in ${path} is not what it was made as.`, {
        next: 'put back a backup of the data folder',
        cause,
      });
    }
  }
}

function newer(path: string, found: number, newest: number): OutlastError {
  return new OutlastError(
    'log.newer_version',
    `${path} was written by a newer version of Outlast (format ${found}; this one reads up to ${newest}).`,
    { next: 'run the newer version; nothing was changed' },
  );
}

function copyAside(db: Database, files: Files, path: string): void {
  files.remove(path);
  db.prepare('VACUUM INTO ?').run(path);
}

/** SQLite keeps `user_version` in bytes 60 to 63 of the file. 0 when there is no file, or none of SQLite's. */
function versionInHeader(bytes: Uint8Array | null): number {
  const header = Buffer.from(bytes ?? []);
  const isOurs = header.length === 64 && header.toString('latin1', 0, 16) === 'SQLite format 3\0';
  return isOurs ? header.readUInt32BE(60) : 0;
}
