import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutlastError } from '../../core/error.ts';
import { type Database, type DriverName, openDatabase } from './driver.ts';

const DRIVERS: readonly DriverName[] = ['node:sqlite', 'better-sqlite3', 'libsql'];

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'no error';
  } catch (error) {
    return error instanceof OutlastError ? error.code : `no code: ${error}`;
  }
}

describe.each(DRIVERS)('driver: %s', (name) => {
  async function open(skip: (reason: string) => never, file = 'a.db'): Promise<Database> {
    const opened = await openDatabase(join(dir, file), name).catch(() => null);
    return opened ?? skip(`${name} is not installed here`);
  }

  it('D2 D3 takes and gives values of each kind, also alone', async ({ skip }) => {
    const db = await open(skip);
    db.exec('CREATE TABLE t (n INTEGER, b BLOB, s TEXT)');
    const put = db.prepare('INSERT INTO t VALUES (?, ?, ?)');
    put.run(1, new Uint8Array([1, 2, 3]), 'é😀\u2028');
    put.run(2 ** 50, new Uint8Array([1, 2, 3, 4]).subarray(1, 3), null);
    put.run(-1.5, null, '');
    const rows = db.prepare('SELECT n, b, CAST(s AS BLOB) AS s FROM t').all();
    const text = (value: string) => new Uint8Array(Buffer.from(value));
    expect(rows).toEqual([
      { n: 1, b: new Uint8Array([1, 2, 3]), s: text('é😀\u2028') },
      { n: 2 ** 50, b: new Uint8Array([2, 3]), s: null },
      { n: -1.5, b: null, s: text('') },
    ]);
    const byBlob = db.prepare('SELECT n FROM t WHERE b = ?');
    expect(byBlob.get(new Uint8Array([2, 3]))).toEqual({ n: 2 ** 50 });
    expect(byBlob.all(new Uint8Array([9]))).toEqual([]);
    expect(byBlob.get(new Uint8Array([9]))).toBeUndefined();
    expect(db.prepare('SELECT n FROM t WHERE s IS ? ORDER BY n').all(null)).toEqual([{ n: 2 ** 50 }]);
    expect(db.prepare("SELECT ifnull(?, x'') AS b").get(new Uint8Array(0))?.b).toEqual(new Uint8Array(0));
    db.close();
  });

  it('D3 refuses text on its way out, and survives what is not text', async ({ skip }) => {
    const db = await open(skip);
    expect(() => db.prepare("SELECT 'text' AS s").get()).toThrow('number or blob');
    const rotten = db.prepare("SELECT CAST(CAST(x'ff00fe' AS TEXT) AS BLOB) AS s").get();
    expect(rotten).toEqual({ s: new Uint8Array([0xff, 0, 0xfe]) });
    db.close();
  });

  it('keeps a transaction whole', async ({ skip }) => {
    const db = await open(skip);
    db.exec('CREATE TABLE t (n INTEGER UNIQUE)');
    const put = db.prepare('INSERT INTO t VALUES (?)');
    db.transaction(() => put.run(1));
    expect(db.transaction(() => 'result')).toBe('result');
    const failing = () => {
      put.run(2);
      throw new Error('mine');
    };
    expect(() => db.transaction(failing)).toThrow('mine');
    expect(db.prepare('SELECT n FROM t').all()).toEqual([{ n: 1 }]);
    db.close();
  });

  it('D1 explains what SQLite says', async ({ skip }) => {
    const db = await open(skip);
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (b BLOB UNIQUE); PRAGMA max_page_count = 5');
    const put = db.prepare('INSERT INTO t VALUES (?)');
    expect(codeOf(() => put.run(new Uint8Array(100_000)))).toBe('store.full');
    put.run(new Uint8Array(1));
    expect(codeOf(() => put.run(new Uint8Array(1)))).toBe('store.failed');
    expect(codeOf(() => db.prepare('SELECT * FROM nothing'))).toBe('store.failed');

    const other = await open(skip);
    db.exec('BEGIN IMMEDIATE');
    expect(codeOf(() => other.transaction(() => 1))).toBe('store.busy');
    other.close();
    db.close();

    writeFileSync(join(dir, 'no.db'), 'this is not a database, however long it may go on. '.repeat(20));
    const broken = await open(skip, 'no.db');
    expect(codeOf(() => broken.exec('SELECT * FROM sqlite_schema'))).toBe('log.damaged');
    broken.close();
  });

  it('D4 is closed when it is closed', async ({ skip }) => {
    const db = await open(skip);
    db.exec(
      'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT; PRAGMA journal_mode = WAL; CREATE TABLE t (n)',
    );
    const all = db.prepare('SELECT n FROM t');
    all.all();
    db.close();
    db.close();
    expect(codeOf(() => all.all())).toBe('store.failed');
    expect(codeOf(() => db.exec('SELECT 1'))).toBe('store.failed');
    expect(readdirSync(dir)).toEqual(['a.db']);
    const again = await open(skip);
    again.exec('BEGIN EXCLUSIVE; COMMIT');
    again.close();
  });

  it('says what to do when the file cannot be opened', async () => {
    const error = await openDatabase(join(dir, 'no/such/folder.db'), name).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'store.failed' });
  });
});

describe('driver', () => {
  it('is chosen by what is there', async () => {
    const db = await openDatabase(join(dir, 'a.db'));
    expect(DRIVERS).toContain(db.driver);
    const hasNodeSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
    expect(db.driver === 'node:sqlite').toBe(hasNodeSqlite);
    db.close();
  });
});
