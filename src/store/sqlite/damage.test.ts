/** Files that were cut, rotted or put back behind the store's back: reported, never quietly shorter. */

import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionId } from '../../core/ids.ts';
import type { StoredEvent } from '../port.ts';
import { append, handClock, sampleBlob, sampleCommit, sampleId, sampleSummary } from '../sample.ts';
import { openDatabase } from './driver.ts';
import { type SqliteStore, sqliteStore } from './open.ts';

const FRAME = 24 + 4096;
const ids = [0, 1, 2].map(sampleId);
const [first, second, last] = ids as [SessionId, SessionId, SessionId];

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const open = (data: string) => sqliteStore({ dir: data, clock: handClock() });

/** Three sessions of eight events, committed in turns; `last` gets the very last one. */
async function fill(store: SqliteStore, upTo = 8): Promise<void> {
  for (let n = 0; n < upTo; n++) for (const id of ids) await append(store, id);
}

/** A folder as a killed process leaves it: everything in the WAL. Gives where in the WAL the last commit begins. */
async function killed(): Promise<{ data: string; lastAt: number }> {
  const store = await open(join(dir, 'live'));
  await fill(store, 7);
  await append(store, first);
  await append(store, second);
  const lastAt = statSync(join(dir, 'live/outlast.db-wal')).size;
  await append(store, last);
  cpSync(join(dir, 'live'), join(dir, 'killed'), { recursive: true });
  await store.close();
  return { data: join(dir, 'killed'), lastAt };
}

/** A folder that was closed in order: everything in the database file. */
async function closed(): Promise<string> {
  const store = await open(join(dir, 'closed'));
  await fill(store);
  await store.close();
  return join(dir, 'closed');
}

/** A copy of `from`, changed by `harm`, and opened. */
async function harmed(from: string, harm: (path: (name: string) => string) => unknown): Promise<SqliteStore> {
  const to = join(dir, 'harmed');
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  await harm((name) => join(to, name));
  return open(to);
}

/** Runs SQL on a database file, as a disk would that changes what it holds. */
function sql(text: string): (path: (name: string) => string) => Promise<void> {
  return async (path) => {
    const db = await openDatabase(path('outlast.db'));
    db.exec(text);
    db.close();
  };
}

function zeros(name: string, at: number, length: number): (path: (name: string) => string) => void {
  return (path) => {
    const bytes = readFileSync(path(name));
    writeFileSync(path(name), bytes.fill(0, at, Math.min(at + length, bytes.length)));
  };
}

function eventsOf(seqs: number): StoredEvent[] {
  return sampleCommit(first, 0, { count: seqs }).events as StoredEvent[];
}

/** H2 R2: a session is whole, or it is reported and reads to where the report says. Gives how far each one reads. */
async function expectHonest(store: SqliteStore): Promise<number[]> {
  const lengths: number[] = [];
  for (const id of ids) {
    const read = await store.read(id, 0, 100).catch((error: { code: string }) => error.code);
    const damage = await store.inspectDamage(id);
    const readable = damage?.readableTo ?? 8;
    if (damage === null) expect(read).toEqual(eventsOf(8));
    else expect(read).toBe('log.damaged');
    if (readable > 0) expect(await store.read(id, 0, readable)).toEqual(eventsOf(readable));
    lengths.push(readable);
  }
  return lengths;
}

/** H1: every session goes on; one that is damaged, after somebody decided, from its readable part. */
async function expectUsable(store: SqliteStore): Promise<void> {
  for (const id of ids) {
    const damage = await store.inspectDamage(id);
    if (damage) await store.salvage(id, damage.readableTo > 0 ? sampleSummary() : null);
    const readable = damage?.readableTo ?? 8;
    expect(await append(store, id)).toEqual({ status: 'committed' });
    expect(await store.read(id, 0, 100)).toEqual(eventsOf(readable + 1));
  }
}

describe('a cut write-ahead log', () => {
  it('B001 cut anywhere in its last record: that one is lost and reported, and the session goes on', async () => {
    const { data, lastAt } = await killed();
    const end = statSync(join(data, 'outlast.db-wal')).size;
    const cuts = new Set([lastAt, lastAt + 1, end - 1]);
    for (let at = lastAt; at < end; at += 499) cuts.add(at);
    for (let at = lastAt; at <= end; at += FRAME) for (const near of [-1, 0, 1]) cuts.add(at + near);
    for (const cut of [...cuts].filter((at) => at < end && at >= lastAt)) {
      const store = await harmed(data, (path) => truncateSync(path('outlast.db-wal'), cut));
      expect(await expectHonest(store)).toEqual([8, 8, 7]);
      expect(store.findings().sessions).toMatchObject([{ session: last, readableTo: 7, acknowledged: 8 }]);
      expect(await store.salvage(last, sampleSummary())).toMatchObject({ readableTo: 7 });
      expect(await append(store, last)).toEqual({ status: 'committed' });
      await store.close();
      const again = await open(join(dir, 'harmed'));
      expect(await expectHonest(again)).toEqual([8, 8, 8]);
      expect(again.findings()).toEqual({ structure: null, sessions: [] });
      await again.close();
    }
  });

  it('H3 cut anywhere, or gone: no acknowledged event is missing without a word', async () => {
    const { data } = await killed();
    const end = statSync(join(data, 'outlast.db-wal')).size;
    let shorter = 0;
    for (let cut = 0; cut < end; cut += 14_009) {
      const store = await harmed(data, (path) => truncateSync(path('outlast.db-wal'), cut));
      if ((await expectHonest(store)).some((length) => length < 8)) shorter += 1;
      await store.close();
    }
    expect(shorter).toBeGreaterThan(10);
    const without = await harmed(data, (path) => rmSync(path('outlast.db-wal')));
    expect(await expectHonest(without)).toEqual([0, 0, 0]);
    await without.close();
  });

  it('keeps reporting after the next start, until somebody decides', async () => {
    const { data, lastAt } = await killed();
    const store = await harmed(data, (path) => truncateSync(path('outlast.db-wal'), lastAt));
    await append(store, first);
    await store.close();
    const again = await open(join(dir, 'harmed'));
    expect(again.findings().sessions).toMatchObject([{ session: last, readableTo: 7, acknowledged: 8 }]);
    await again.close();
  });

  it('is no damage where nothing was acknowledged: a torn commit of a killed process is simply not there', async () => {
    const { data, lastAt } = await killed();
    const store = await harmed(data, (path) => {
      truncateSync(path('outlast.db-wal'), lastAt + 100);
      const lines = readFileSync(path('outlast.db.witness'), 'utf8').split('\n').slice(0, -2);
      writeFileSync(path('outlast.db.witness'), `${lines.join('\n')}\n${last} 8 torn`);
    });
    expect(store.findings().sessions).toEqual([]);
    expect(await store.read(last, 0, 100)).toEqual(eventsOf(7));
    await store.close();
  });
});

describe('zeroed blocks', () => {
  it('B124 in the database file: all is read, or the session says so', async () => {
    const data = await closed();
    const size = statSync(join(data, 'outlast.db')).size;
    let told = 0;
    let mended = 0;
    for (let at = 0; at < size; at += 1700) {
      const opened = harmed(data, zeros('outlast.db', at, 300));
      const store = await opened.catch((error: { code: string }) => error.code);
      if (typeof store === 'string') {
        expect(store).toBe('log.damaged');
        told += 1;
        continue;
      }
      if ((await expectHonest(store)).some((length) => length < 8)) told += 1;
      if (store.findings().structure !== null) mended += 1;
      await expectUsable(store);
      await store.close();
    }
    expect(told).toBeGreaterThan(3);
    expect(mended).toBeGreaterThan(2);
  });

  it('B124 in the write-ahead log: all is read, or the session says so', async () => {
    const { data } = await killed();
    const size = statSync(join(data, 'outlast.db-wal')).size;
    for (let at = 0; at < size; at += 20_011) {
      const store = await harmed(data, zeros('outlast.db-wal', at, 300));
      await expectHonest(store);
      await expectUsable(store);
      await store.close();
    }
  });
});

describe('damage in place', () => {
  const cases: [what: string, change: string, readableTo: number, later: number, reason: string][] = [
    [
      'a changed event',
      "UPDATE events SET body = '{}' WHERE seq = 3",
      2,
      5,
      'event 3 does not match its checksum',
    ],
    [
      'an event that is not text',
      "UPDATE events SET body = x'ff' WHERE seq = 3",
      2,
      4,
      'event 3 cannot be read (text was expected)',
    ],
    [
      'a later time',
      'UPDATE events SET at = at + 1 WHERE seq = 8',
      7,
      0,
      'event 8 does not match its checksum',
    ],
    ['a missing event', 'DELETE FROM events WHERE seq = 3', 2, 4, 'event 3 is missing'],
    ['a missing end', 'DELETE FROM events WHERE seq > 5', 5, 0, 'event 6 is missing'],
    ['a missing start', 'DELETE FROM events WHERE seq = 1', 0, 6, 'event 1 is missing'],
    ['an older index row', 'UPDATE sessions SET head = 5', 8, 0, 'its index row does not match its checksum'],
    ['an older epoch', 'UPDATE sessions SET epoch = 7', 8, 0, 'its index row does not match its checksum'],
    ['another owner', "UPDATE sessions SET owner = 'eve'", 8, 0, 'its index row does not match its checksum'],
    ['a missing index row', 'DELETE FROM sessions', 8, 0, 'its index row is missing'],
  ];

  it.each(cases)('H1 H2 %s', async (_, change, readableTo, later, reason) => {
    const where = / WHERE /.test(change) ? ' AND ' : ' WHERE ';
    const column = /sessions/.test(change) ? 'id' : 'session';
    const store = await harmed(await closed(), sql(`${change}${where}${column} = '${second}'`));
    await expect(store.read(second, 0, 100)).rejects.toMatchObject({
      code: 'log.damaged',
      message: expect.stringContaining(reason),
      next: expect.stringContaining(`outlast verify ${second}`),
    });
    const damage = { session: second, readableTo, later, acknowledged: 8 };
    expect(await store.inspectDamage(second)).toMatchObject(damage);
    expect(await store.health()).toMatchObject({ sessions: [damage] });
    if (readableTo > 0) expect(await store.read(second, 0, readableTo)).toEqual(eventsOf(readableTo));

    await expect(store.acquire(second, 'w', 1000)).rejects.toMatchObject({ code: 'log.damaged' });
    await expect(store.commit(sampleCommit(second, 8))).rejects.toMatchObject({ code: 'log.damaged' });
    expect(await append(store, first)).toEqual({ status: 'committed' });
    expect(await store.acquire(last, 'w', 1000)).toMatchObject({ status: 'acquired' });

    expect(await store.salvage(second, readableTo > 0 ? sampleSummary() : null)).toMatchObject(damage);
    expect(await store.read(second, 0, 100)).toEqual(eventsOf(readableTo));
    expect(await append(store, second)).toEqual({ status: 'committed' });
    const { head, epoch } = (await store.row(second)) ?? {};
    expect(head).toBe(readableTo + 1);
    if (readableTo > 0) expect(epoch).toBeGreaterThan(1000);
    expect(await store.inspectDamage(second)).toBeNull();
    await store.close();
  });

  it('Q2 a damaged session is not driven, and does not keep the sweeper awake', async () => {
    const store = await open(join(dir, 'data'));
    const due = { summary: sampleSummary({ dueAt: 5 }) };
    await store.commit(sampleCommit(first, 0, due));
    await store.commit(sampleCommit(second, 0, { summary: sampleSummary({ dueAt: 3 }) }));
    await store.close();
    await sql(`UPDATE events SET body = '[]' WHERE session = '${second}'`)((name) => join(dir, 'data', name));
    const again = await open(join(dir, 'data'));
    expect(await again.due(10, 10)).toEqual([second, first]);
    await expect(again.read(second, 0, 10)).rejects.toMatchObject({ code: 'log.damaged' });
    expect(await again.due(10, 10)).toEqual([first]);
    expect(await again.nextDue()).toBe(5);
    await again.close();
  });

  it('an index row that cannot be read is listed as damaged, and hides no other', async () => {
    const store = await harmed(
      await closed(),
      sql(`UPDATE sessions SET summary = x'ff' WHERE id = '${second}'`),
    );
    const rows = await store.list({ limit: 10 });
    expect(rows.map(({ id, phase }) => [id, phase])).toEqual([
      [last, 'working'],
      [second, 'damaged'],
      [first, 'working'],
    ]);
    await expect(store.row(second)).rejects.toMatchObject({ code: 'log.damaged' });
    await store.close();
  });

  it.each(['sqlite_autoindex_events_1', 'sqlite_autoindex_sessions_1', 'sessions_by_age'])(
    'B1 B2 a broken index (%s) is left behind with the old file, and nothing is lost',
    async (index) => {
      const data = await closed();
      const db = await openDatabase(join(data, 'outlast.db'));
      const root = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(index)?.rootpage;
      db.close();
      const store = await harmed(data, zeros('outlast.db', (Number(root) - 1) * 4096, 4096));
      expect(store.findings()).toEqual({ structure: expect.stringContaining('a new file'), sessions: [] });
      expect(await expectHonest(store)).toEqual([8, 8, 8]);
      expect((await store.list({ limit: 10 })).map(({ id }) => id)).toEqual([last, second, first]);
      for (const id of ids) expect(await append(store, id)).toEqual({ status: 'committed' });
      expect(await store.health()).toEqual({ structure: null, sessions: [] });
      await store.close();
      const kept = readdirSync(join(dir, 'harmed')).filter((name) => name.includes('damaged'));
      expect(kept).toHaveLength(1);
      const again = await open(join(dir, 'harmed'));
      expect(again.findings()).toEqual({ structure: null, sessions: [] });
      await again.close();
    },
  );

  it('a rotted blob is told from a missing one, and mended by the commit that brings it again', async () => {
    const data = join(dir, 'data');
    const blob = sampleBlob(new Uint8Array(1000).fill(3));
    const store = await open(data);
    await store.commit(sampleCommit(first, 0, { blobs: [blob] }));
    await store.close();
    await sql(`UPDATE blobs SET bytes = x'00'`)((name) => join(data, name));
    const again = await open(data);
    await expect(again.blob(first, blob.ref)).rejects.toMatchObject({ code: 'blob.forged' });
    await again.commit(sampleCommit(first, 1, { blobs: [blob] }));
    expect(await again.blob(first, blob.ref)).toEqual(blob.bytes);
    await again.close();
  });
});

describe('another file', () => {
  it('H3 an older copy of the database, put back, is noticed', async () => {
    const data = join(dir, 'data');
    const store = await open(data);
    await fill(store, 4);
    await store.close();
    cpSync(join(data, 'outlast.db'), join(dir, 'older.db'));
    const later = await open(data);
    for (const id of ids) await append(later, id, 4);
    await later.close();
    cpSync(join(dir, 'older.db'), join(data, 'outlast.db'));
    const again = await open(data);
    expect(again.findings().sessions).toMatchObject([{ session: last, readableTo: 4, acknowledged: 8 }]);
    await again.close();
  });

  it('that is no database is refused, with what to do', async () => {
    const store = harmed(await closed(), (path) => writeFileSync(path('outlast.db'), 'x'.repeat(5000)));
    await expect(store).rejects.toMatchObject({ code: 'log.damaged', action: 'ask' });
  });
});
