/** The index of words when its tables are not what was written: it is forgotten and made again; logs are as they were. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Batch } from '../port.ts';
import { append, handClock, sampleId, sampleSummary } from '../sample.ts';
import { openDatabase } from './driver.ts';
import { type SqliteStore, sqliteStore } from './open.ts';

const a = sampleId(1);
const b = sampleId(2);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const open = (): Promise<SqliteStore> => sqliteStore({ dir, clock: handClock() });

const batch = (after: number, upTo: number): Batch => ({
  ...{ after, upTo, passages: Uint8Array.of(1, 2, 3) },
  words: new Map([
    ['rent', Uint8Array.of(7, 8)],
    ['paid', Uint8Array.of(9)],
  ]),
});

/** Two sessions with an index each, on a disk that then changes what it holds. */
async function harmed(sql: string): Promise<SqliteStore> {
  const store = await open();
  for (const id of [a, b]) {
    await append(store, id, 6);
    for (const at of [0, 2, 4]) await store.index(id, batch(at, at + 2));
  }
  await store.close();
  const db = await openDatabase(join(dir, 'outlast.db'));
  db.exec(sql);
  db.close();
  return open();
}

const second = `batch = (SELECT id FROM batches WHERE session = '${a}' AND up_to = 4)`;

it.each([
  ['a changed word', `UPDATE words SET found = x'0708' WHERE word = 'paid' AND ${second}`],
  ['a word that is no bytes', `UPDATE words SET found = 5 WHERE word = 'rent' AND ${second}`],
  [
    'a word under another',
    `UPDATE words SET found = x'09', word = 'rant' WHERE word = 'paid' AND ${second};
    UPDATE words SET word = 'paid' WHERE word = 'rent' AND ${second}`,
  ],
  ['changed passages', `UPDATE batches SET passages = x'010204' WHERE session = '${a}' AND up_to = 4`],
  ['a gap', `UPDATE batches SET after = 3 WHERE session = '${a}' AND up_to = 4`],
])(
  'S8 %s: what stands before it is kept, the rest is forgotten and can be put in again',
  async (_what, sql) => {
    const store = await harmed(sql);
    expect(await store.search(a, ['rent', 'paid'])).toEqual([batch(0, 2)]);
    expect(await store.search(b, ['rent', 'paid'])).toEqual([batch(0, 2), batch(2, 4), batch(4, 6)]);
    expect(store.findings().sessions).toEqual([]);
    expect(await store.read(a, 0, 10)).toHaveLength(6);
    expect(await store.index(a, batch(2, 6))).toBe(true);
    expect(await store.search(a, ['rent', 'paid'])).toEqual([batch(0, 2), batch(2, 6)]);
    await store.close();
  },
);

it('S8 a log that was cut forgets what stood behind, since its numbers will name other events', async () => {
  const store = await harmed(`UPDATE events SET body = '[]' WHERE session = '${a}' AND seq = 4`);
  await store.inspectDamage(a);
  await store.salvage(a, sampleSummary());
  expect(await store.search(a, ['rent'])).toEqual([]);
  expect(await store.search(b, [])).toHaveLength(3);
  await store.close();
});
