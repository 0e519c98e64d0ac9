/** A disk that fails at a chosen operation, and one that is full: what was acknowledged stands, the rest never was. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutlastError } from '../../core/error.ts';
import type { SessionId } from '../../core/ids.ts';
import type { CommitResult } from '../port.ts';
import { append, local, sampleBlob, sampleCommit, sampleEvent, sampleId, sampleSummary } from '../sample.ts';
import { type Database, openDatabase } from './driver.ts';
import { type SqliteStore, sqliteStore } from './open.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const a = sampleId(1);
const b = sampleId(2);
const c = sampleId(3);

/** What the disk does next; counts operations that could fail. */
interface Disk {
  operations: number;
  /** Called before each; throws to fail it. */
  fail: (operation: number, sql: string) => void;
}

/** A real database on a disk that can be told to fail. */
async function openOn(disk: Disk, path: string): Promise<Database> {
  const db = await openDatabase(path);
  const exec = (sql: string) => {
    disk.fail(++disk.operations, sql);
    db.exec(sql);
  };
  return {
    driver: db.driver,
    exec,
    prepare(sql) {
      const statement = db.prepare(sql);
      const run: typeof statement.run = (...values) => {
        disk.fail(++disk.operations, sql);
        statement.run(...values);
      };
      return { run, get: statement.get, all: statement.all };
    },
    transaction(work) {
      exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        exec('COMMIT');
        return result;
      } catch (error) {
        try {
          db.exec('ROLLBACK');
        } catch {}
        throw error;
      }
    },
    close: () => db.close(),
  };
}

const full = () => new OutlastError('store.full', 'The disk is full.');

function open(disk: Disk = { operations: 0, fail: () => {} }): Promise<SqliteStore> {
  return sqliteStore({ dir, driver: (path) => openOn(disk, path) });
}

async function headOf(store: SqliteStore, session: SessionId): Promise<number> {
  const events = await store.read(session, 0, 1000);
  const head = (await store.row(session))?.head ?? 0;
  expect(events).toHaveLength(head);
  return head;
}

describe('failing disk', () => {
  /** Three commits in one tick, on a session that is there and on two that are not. */
  const storm = (store: SqliteStore) => [
    store.commit(sampleCommit(a, 2, { count: 2, blobs: [sampleBlob(new Uint8Array(9))] })),
    store.commit(sampleCommit(b, 0)),
    store.commit(sampleCommit(c, 0, { startKey: 'k' })),
  ];

  async function stormOn(failing: (nth: number) => boolean, ends: 'rolled back' | 'kept' = 'kept') {
    rmSync(dir, { recursive: true });
    const disk: Disk = { operations: 0, fail: () => {} };
    const store = await open(disk);
    await append(store, a, 2);
    disk.operations = 0;
    disk.fail = (nth, sql) => {
      if (ends === 'rolled back' && /ROLLBACK TO/.test(sql)) throw new Error('no such savepoint: job');
      if (failing(nth)) throw full();
    };
    const outcomes = await Promise.allSettled(storm(store));
    const operations = disk.operations;
    disk.fail = () => {};
    return { store, outcomes, operations };
  }

  const stands = (outcome: PromiseSettledResult<CommitResult>) =>
    outcome.status === 'fulfilled' && outcome.value.status === 'committed';

  /** The logs hold what was acknowledged, and nothing of what was not. */
  async function expectHonest(store: SqliteStore, outcomes: PromiseSettledResult<CommitResult>[]) {
    const [more = false, first = false, second = false] = outcomes.map(stands);
    expect(await headOf(store, a)).toBe(more ? 4 : 2);
    expect(await headOf(store, b)).toBe(first ? 1 : 0);
    expect(await headOf(store, c)).toBe(second ? 1 : 0);
    expect(await store.findStart(local, 'k')).toBe(second ? c : null);
  }

  it('B018 G2 G3 at every operation, once: each commit is told what became of it', async () => {
    const { store, operations } = await stormOn(() => false);
    await store.close();
    expect(operations).toBeGreaterThan(15);
    for (let nth = 1; nth <= operations; nth++) {
      for (const ends of ['kept', 'rolled back'] as const) {
        const run = await stormOn((operation) => operation === nth, ends);
        expect(run.outcomes.filter(stands).length).toBeGreaterThanOrEqual(2);
        await expectHonest(run.store, run.outcomes);
        await run.store.close();
        const reopened = await open();
        await expectHonest(reopened, run.outcomes);
        await reopened.close();
      }
    }
  });

  it('B018 from an operation on: nothing is acknowledged, and all goes on once there is room', async () => {
    for (let nth = 1; nth <= 12; nth++) {
      const { store, outcomes } = await stormOn((operation) => operation >= nth);
      expect(outcomes.filter(stands)).toHaveLength(0);
      expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
      await expectHonest(store, outcomes);
      expect(await Promise.all(storm(store))).toEqual(Array(3).fill({ status: 'committed' }));
      await store.close();
    }
  });
});

describe('full disk', () => {
  it('B018 a commit for which there is no room leaves nothing, and says so', async () => {
    let db: Database | undefined;
    const driver = async (path: string) => {
      db = await openDatabase(path);
      return db;
    };
    const store = await sqliteStore({ dir, driver });
    await append(store, a);
    const pages = Number(db?.prepare('PRAGMA page_count').get()?.page_count);
    db?.exec(`PRAGMA max_page_count = ${pages + 2}`);

    const blob = sampleBlob(new Uint8Array(100_000).fill(7));
    const big = { ...sampleCommit(a, 1, { blobs: [blob] }), summary: sampleSummary({ phase: 'paused' }) };
    const [tooBig, small] = await Promise.allSettled([store.commit(big), store.commit(sampleCommit(b, 0))]);
    expect(tooBig).toMatchObject({ status: 'rejected', reason: { code: 'store.full', action: 'wait' } });
    expect(small).toMatchObject({ status: 'fulfilled', value: { status: 'committed' } });
    expect(await store.read(a, 0, 10)).toEqual([sampleEvent(1)]);
    expect(await store.row(a)).toMatchObject({ head: 1, phase: 'working' });
    await expect(store.blob(a, blob.ref)).rejects.toMatchObject({ code: 'blob.missing' });

    db?.exec('PRAGMA max_page_count = 1000000');
    expect(await store.commit(big)).toEqual({ status: 'committed' });
    expect(await store.blob(a, blob.ref)).toEqual(blob.bytes);
    await store.close();
  });
});
