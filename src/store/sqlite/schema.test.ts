import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFiles } from '../files.ts';
import { append, sampleEvent, sampleId } from '../sample.ts';
import { asNumber, asText } from './cell.ts';
import { type Database, openDatabase } from './driver.ts';
import { sqliteStore } from './open.ts';
import { migrate, STEPS } from './schema.ts';

/** The schema of version 1, as it was released. Never edit it: it is what the steps start from. */
const V1 = `
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
  summary    TEXT    NOT NULL
);
CREATE UNIQUE INDEX sessions_by_start ON sessions (owner, start_key) WHERE start_key IS NOT NULL;
CREATE INDEX sessions_by_age ON sessions (started_at DESC, id DESC);
CREATE INDEX sessions_by_owner ON sessions (owner, started_at DESC, id DESC);
CREATE INDEX sessions_by_due ON sessions (due_at, id) WHERE due_at IS NOT NULL;

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
`;

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
  path = join(dir, 'outlast.db');
});
afterEach(() => rmSync(dir, { recursive: true }));

async function databaseAt(version: number, sql: string): Promise<Database> {
  const db = await openDatabase(path);
  db.exec(`${sql}; PRAGMA user_version = ${version}`);
  return db;
}

/** Every table and index with its columns, in words that do not depend on how it came about. */
function shapeOf(db: Database): string[] {
  const objects = db.prepare(`
    SELECT CAST(type || ' ' || name AS BLOB) AS object, CAST(ifnull(sql, '') AS BLOB) AS sql FROM sqlite_schema ORDER BY 1`);
  const plain = (sql: string) =>
    sql
      .replace(/--.*$/gm, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([,()]) ?/g, '$1');
  return objects.all().map((cells) => `${asText(cells.object)}: ${plain(asText(cells.sql))}`);
}

function versionOf(db: Database): number {
  return asNumber(db.prepare('PRAGMA user_version').get()?.user_version);
}

describe('schema', () => {
  const steps = ['ALTER TABLE events ADD COLUMN extra INTEGER', 'CREATE TABLE more (n INTEGER)'];
  const schema = `${V1.replace('UNIQUE (session, seq)', 'extra INTEGER, UNIQUE (session, seq)')}; ${steps[1]}`;

  it('V1 a migrated file has the schema of a fresh one', async () => {
    const old = await databaseAt(1, V1);
    migrate(old, nodeFiles, path);
    const migrated = shapeOf(old);
    expect(versionOf(old)).toBe(STEPS.length + 1);
    old.close();
    rmSync(path);
    const fresh = await databaseAt(0, '');
    migrate(fresh, nodeFiles, path);
    expect(migrated).toEqual(shapeOf(fresh));
    expect(versionOf(fresh)).toBe(STEPS.length + 1);
    fresh.close();
  });

  it('a migrated file lists what awaits a person, and a summary that is damaged hides nothing', async () => {
    const row = (id: string, summary: string): string =>
      `INSERT INTO sessions VALUES ('${id}', 'local', NULL, 1, 'x', NULL, 1, x'', 0, 0, 0, '${summary}')`;
    const old = await databaseAt(
      1,
      [V1, row('a', '{"openDecisions":2}'), row('b', '{"openDecisions":0}'), row('c', '{"openDec')].join(';'),
    );
    migrate(old, nodeFiles, path);
    const found = old.prepare('SELECT CAST(awaiting AS REAL) AS awaiting FROM sessions ORDER BY id').all();
    expect(found.map(({ awaiting }) => awaiting)).toEqual([2, 0, 0]);
    old.close();
  });

  it('V3 B025 steps are applied from where a file stands, with a copy beside it', async () => {
    const db = await databaseAt(1, `${V1}; INSERT INTO blobs VALUES ('ses_x', 'r', x'01')`);
    migrate(db, nodeFiles, path, { schema, steps });
    expect(versionOf(db)).toBe(3);
    expect(db.prepare('SELECT bytes FROM blobs').get()).toEqual({ bytes: new Uint8Array([1]) });
    expect(db.prepare('SELECT count(extra) AS n FROM events').get()).toEqual({ n: 0 });
    db.close();
    const copy = await openDatabase(`${path}.v1`);
    expect(versionOf(copy)).toBe(1);
    expect(copy.prepare('SELECT bytes FROM blobs').get()).toEqual({ bytes: new Uint8Array([1]) });
    copy.close();
  });

  it('V3 a step that fails leaves the file as it was', async () => {
    const db = await databaseAt(1, V1);
    const before = shapeOf(db);
    expect(() => migrate(db, nodeFiles, path, { schema, steps: [...steps, 'not SQL'] })).toThrow(
      'syntax error',
    );
    expect(shapeOf(db)).toEqual(before);
    expect(versionOf(db)).toBe(1);
    db.close();
  });

  it('V2 B189 a file of a newer version is refused, and not a byte of it changes', async () => {
    const store = await sqliteStore({ dir });
    await append(store, sampleId(1));
    await store.close();
    const newer = await databaseAt(STEPS.length + 2, 'CREATE TABLE of_tomorrow (n)');
    newer.close();
    writeFileSync(join(dir, 'other'), '');
    const files = () => readdirSync(dir).map((name) => [name, readFileSync(join(dir, name)).toString('hex')]);
    const before = files();
    await expect(sqliteStore({ dir })).rejects.toMatchObject({ code: 'log.newer_version', action: 'stop' });
    expect(files()).toEqual(before);
  });

  it('makes its folder, for its user alone, and finds what it left there', async () => {
    const deep = join(dir, 'a/b');
    const store = await sqliteStore({ dir: deep });
    await append(store, sampleId(1));
    await store.close();
    expect(readdirSync(deep).sort()).toEqual(['outlast.db', 'outlast.db.witness']);
    const again = await sqliteStore({ dir: deep });
    expect(await again.read(sampleId(1), 0, 10)).toEqual([sampleEvent(1)]);
    expect(again.findings()).toEqual({ structure: null, sessions: [] });
    expect(await again.health()).toEqual({ structure: null, sessions: [] });
    expect(existsSync(join(deep, 'owner.json'))).toBe(true);
    await again.close();
    await again.close();
    await expect(again.row(sampleId(1))).rejects.toMatchObject({ code: 'store.failed' });
    await expect(append(again, sampleId(1))).rejects.toMatchObject({ code: 'store.failed' });
  });

  it('B124 refuses tables that are not what they were made as', async () => {
    const store = await sqliteStore({ dir });
    await store.close();
    const db = await openDatabase(path);
    db.exec('ALTER TABLE events RENAME COLUMN body TO bodz');
    db.close();
    await expect(sqliteStore({ dir })).rejects.toMatchObject({
      code: 'log.damaged',
      message: expect.stringContaining('events'),
    });
  });

  it('says which folder cannot be used', async () => {
    writeFileSync(join(dir, 'file'), '');
    const error = {
      code: 'store.failed',
      message: expect.stringContaining(dir),
      next: expect.stringContaining('folder'),
    };
    await expect(sqliteStore({ dir: join(dir, 'file/data') })).rejects.toMatchObject(error);
  });
});
