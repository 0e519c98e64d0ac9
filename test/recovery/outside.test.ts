/** The services of the kill campaign keep their promises and no more: what the campaign finds is worth as much as they are. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BookReader } from '../../src/break/service/book.ts';
import { LAG_MS } from '../../src/break/terms.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { ServiceName } from '../../src/testing/kill/batch.ts';
import { type Arrival, KEPT_MS, LATE_MS, type Row, readBooks } from '../../src/testing/kill/books.ts';
import { root } from '../build.ts';

let outside: ChildProcess;
let url = '';
let folder = '';
let made = 0;

beforeAll(async () => {
  execFileSync(process.execPath, ['scripts/ensure.mjs'], { cwd: root });
  folder = mkdtempSync(join(tmpdir(), 'outlast-outside-'));
  const args = ['dist/testing/kill/services.js', '--books', folder, '--seed', '3'];
  outside = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: outside.stdout ?? process.stdin })) {
    ({ url } = JSON.parse(line) as { url: string });
    break;
  }
}, 120_000);

afterAll(() => {
  outside?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const name = (): string => `r1.${++made}.1`;
const rowsOf = (what: string): readonly Row[] =>
  readBooks(new BookReader(folder), 'r1').filter((row) => row.what === what);

/** Sends until it is answered, as a client does that can repeat; a few connections are cut. */
async function send(service: ServiceName, what: string, headers: Record<string, string>): Promise<void> {
  for (;;) {
    const request = { method: 'POST', headers, body: JSON.stringify({ what }) };
    const answer = await fetch(`${url}/${service}`, request).catch(() => null);
    if (answer?.ok) return;
  }
}

async function records(service: ServiceName, reference: string): Promise<readonly { id: number }[]> {
  const answer = await fetch(`${url}/${service}?reference=${reference}`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { records: { id: number }[] }).records;
}

it.each(['keyed', 'expiring'] as const)('%s knows a key', async (service) => {
  const what = name();
  await Promise.all([1, 2, 3].map(() => send(service, what, { 'idempotency-key': what })));
  await send(service, what, { 'idempotency-key': what });
  expect(rowsOf(what)).toHaveLength(1);
});

it('expiring forgets it, keyed does not', { timeout: 20_000 }, async () => {
  const [long, short] = [name(), name()];
  const both = () =>
    Promise.all([
      send('keyed', long, { 'idempotency-key': long }),
      send('expiring', short, { 'idempotency-key': short }),
    ]);
  await both();
  await systemClock.sleep(KEPT_MS);
  await both();
  expect([rowsOf(long).length, rowsOf(short).length]).toEqual([1, 2]);
});

it('queryable shows at once what was done, lagging later', { timeout: 20_000 }, async () => {
  const what = name();
  await send('queryable', what, { 'x-reference': what });
  expect((await records('queryable', what)).length).toBe(rowsOf(what).length);
  const late = name();
  await send('lagging', late, { 'x-reference': late });
  expect(await records('lagging', late)).toEqual([]);
  while ((await records('lagging', late)).length === 0) await systemClock.sleep(10);
  expect(systemClock.now() - (rowsOf(late)[0]?.at ?? 0)).toBeGreaterThanOrEqual(LAG_MS);
});

it('cancelable undoes a row, once, and says so', async () => {
  const what = name();
  await send('cancelable', what, { 'x-reference': what });
  const id = (await records('cancelable', what))[0]?.id;
  for (let n = 0; n < 3; n++) {
    await fetch(`${url}/cancelable/${id}`, { method: 'DELETE' }).catch(() => {});
  }
  expect(rowsOf(what).filter(({ undoes }) => undoes === id)).toHaveLength(1);
  expect(await records('cancelable', what)).toContainEqual(expect.objectContaining({ id, undone: true }));
});

it('blind can be asked nothing', async () => {
  expect((await fetch(`${url}/blind?reference=x`)).status).toBe(404);
  expect((await fetch(`${url}/blind/1`, { method: 'DELETE' })).status).toBe(404);
});

it('batch dies in the middle: some items stand, none of them is applied late', {
  timeout: 60_000,
}, async () => {
  const isPart = async (): Promise<boolean> => {
    const whats = [name(), name(), name(), name()];
    const items = whats.map(async (what) => {
      const headers = { 'x-reference': what };
      return fetch(`${url}/batch`, { method: 'POST', headers, body: JSON.stringify({ what }) });
    });
    const answers = await Promise.allSettled(items);
    await systemClock.sleep(LATE_MS);
    const stand = whats.filter((what) => rowsOf(what).length > 0).length;
    const answered = answers.filter(({ status }) => status === 'fulfilled').length;
    return stand > 0 && stand < whats.length && answered < stand;
  };
  const found: boolean[] = [];
  while (!found.includes(true) && found.length < 40) found.push(await isPart());
  expect(found).toContain(true);
});

it('nothing was applied later than promised, and every arrival is told', async () => {
  await Promise.all(Array.from({ length: 20 }, () => send('blind', name(), {})));
  const { arrivals } = (await (await fetch(`${url}/arrivals?of=r1`)).json()) as { arrivals: Arrival[] };
  const cameFor = (row: Row): Arrival | undefined =>
    arrivals.find(({ what, at }) => what === row.what && at <= row.at && row.at - at <= LATE_MS);
  const rows = readBooks(new BookReader(folder), 'r1').filter(({ undoes }) => undoes === null);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !cameFor(row))).toEqual([]);
});
