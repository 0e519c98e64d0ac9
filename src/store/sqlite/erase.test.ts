/** A session that was erased, in the file: nothing of it is left there, and what is left is no damage. */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  append,
  handClock,
  sampleBlob,
  sampleCommit,
  sampleEvent,
  sampleId,
  sampleSummary,
} from '../sample.ts';
import { openDatabase } from './driver.ts';
import { type SqliteStore, sqliteStore } from './open.ts';

const [gone, kept] = [sampleId(1), sampleId(2)];
const WORDS = 'the secret of this session';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const open = (data: string) => sqliteStore({ dir: data, clock: handClock() });
const erasing = (head: number) => sampleCommit(gone, head, { erases: true, summary: sampleSummary() });

/** Long and short bodies, so that some lie on pages of their own. */
async function fill(store: SqliteStore): Promise<void> {
  for (let n = 0; n < 12; n++) {
    const body = { words: WORDS, n, more: 'x'.repeat(n % 3 === 0 ? 9_000 : 10) };
    const events = [sampleEvent(n + 1, body)];
    const blob = sampleBlob(Buffer.from(`${WORDS} ${n}`.repeat(400)));
    await store.commit({ ...sampleCommit(gone, n, { blobs: [blob] }), events });
    await append(store, kept);
  }
}

it('E1 S10 nothing of what it said is in the files any more', async () => {
  const store = await open(dir);
  await fill(store);
  const words = () => readdirSync(dir).filter((name) => readFileSync(join(dir, name)).includes(WORDS));
  expect(words()).not.toEqual([]);
  await store.commit(erasing(12));
  await store.close();
  expect(words()).toEqual([]);
});

it('R2 H1 a log that begins at its tombstone is whole: on opening, in a look at all, and behind an older mark', async () => {
  const store = await open(join(dir, 'live'));
  await fill(store);
  await store.commit(erasing(12));
  expect(await store.inspectDamage(gone)).toBeNull();
  cpSync(join(dir, 'live'), join(dir, 'killed'), { recursive: true });
  await store.close();
  for (const data of ['live', 'killed']) {
    const again = await open(join(dir, data));
    expect(again.findings()).toEqual({ structure: null, sessions: [] });
    expect(await again.health()).toEqual({ structure: null, sessions: [] });
    expect((await again.read(gone, 0, 10)).map(({ seq }) => seq)).toEqual([13]);
    await again.close();
  }
});

it.each([
  ['another text', `UPDATE events SET body = '{"n":14}' WHERE session = '${gone}'`],
  ['another number', `UPDATE events SET seq = 12 WHERE session = '${gone}'`],
  ['none at all', `DELETE FROM events WHERE session = '${gone}'`],
])('R1 H1 a tombstone with %s is damage', async (_, harm) => {
  const store = await open(dir);
  await fill(store);
  await store.commit(erasing(12));
  await store.close();
  const db = await openDatabase(join(dir, 'outlast.db'));
  db.exec(harm);
  db.close();
  const again = await open(dir);
  await expect(again.read(gone, 0, 10)).rejects.toMatchObject({ code: 'log.damaged' });
  expect(await again.read(kept, 0, 100)).toHaveLength(12);
  await again.close();
});

it('C3 an event whose beginning was lost is no tombstone', async () => {
  const store = await open(dir);
  await fill(store);
  await store.close();
  const db = await openDatabase(join(dir, 'outlast.db'));
  db.exec(`DELETE FROM events WHERE session = '${gone}' AND seq < 12`);
  db.close();
  const again = await open(dir);
  await expect(again.read(gone, 0, 10)).rejects.toMatchObject({ code: 'log.damaged' });
  await again.close();
});
