import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { distinct, readBooks } from '../books.ts';
import { hooksOf } from '../hook-client.ts';
import type { Service } from '../service.ts';
import { startBilling } from './server.ts';
import { truth } from './world.ts';

const NORTHWIND = 'acct_2040';
const FEBRUARY = { from: '2026-01-31T19:00', to: '2026-02-28T19:00' };

let dataDir: string;
let billing: Service;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'outlast-billing-'));
  billing = await startBilling({ dataDir });
});
afterEach(async () => {
  await billing.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: a client of a JSON API, as an agent would write it
type Answer = { status: number; body: any };

async function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(billing.url + path, { headers });
  return { status: response.status, body: await response.json() };
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(billing.url + path, { method: 'POST', headers, body: text });
  return { status: response.status, body: await response.json() };
}

async function authenticate(account: string): Promise<string> {
  const { challenge } = (await post('/auth/begin', { account })).body;
  const answer = `${[...challenge].reverse().join('')}:${account}`;
  const { grant } = (await post('/auth/answer', { challenge, answer })).body;
  return (await post('/auth/token', { grant })).body.token;
}

function invoices(token: string, query: Record<string, string>, account = NORTHWIND): Promise<Answer> {
  const path = `/accounts/${account}/invoices?${new URLSearchParams(query)}`;
  return get(path, { authorization: `Bearer ${token}` });
}

const kinds = () => readBooks(dataDir, 'billing').rows.map((row) => row.kind);

test('the description says all that the walk below needs', async () => {
  const text = JSON.stringify((await get('/')).body);
  for (const word of [
    '/accounts?name=',
    '/auth/begin',
    '/auth/answer',
    '/auth/token',
    'reverse',
    'Bearer',
    'UTC',
    'utcOffset',
    'next',
  ]) {
    expect(text).toContain(word);
  }
  expect(text).not.toContain('hook');
  expect(text).not.toContain('truth');
});

test('the whole walk: find the account, authenticate, page through February in UTC; the books show each call', async () => {
  const { accounts } = (await get('/accounts?name=northwind')).body;
  expect(accounts.map(({ name }: { name: string }) => name)).toEqual([
    'Northwind Trading Canada',
    'Northwind Traders',
    'Northwind Trading',
  ]);
  expect(accounts[2]).toMatchObject({
    id: NORTHWIND,
    utcOffset: '-05:00',
    utcOffsetMinutes: -300,
    owner: { email: expect.stringContaining('@') },
  });

  const token = await authenticate(NORTHWIND);
  const rows = [];
  for (let page: number | null = 1; page !== null; ) {
    const { body } = await invoices(token, { ...FEBRUARY, page: String(page) });
    expect(body.page).toBe(page);
    rows.push(...body.invoices);
    page = body.next;
  }
  const right = truth({ accountId: NORTHWIND, month: '2026-02' });
  expect(rows).toHaveLength(right.count);
  expect(rows.reduce((sum, one) => sum + one.amountCents, 0)).toBe(right.totalCents);
  expect(rows.map((one) => one.issuedAt)).toEqual(rows.map((one) => one.issuedAt).sort());
  expect(rows[0]).toEqual({
    id: expect.any(String),
    customer: expect.any(String),
    customerId: expect.any(String),
    amountCents: expect.any(Number),
    currency: 'USD',
    status: expect.stringMatching(/^(paid|open|overdue)$/),
    issuedAt: '2026-01-31T19:00',
  });
  const pages = Math.ceil(right.count / 10);
  expect(kinds()).toEqual([
    'account.lookup',
    'auth.begin',
    'auth.answer',
    'auth.token',
    ...Array(pages).fill('invoices.page'),
  ]);
  expect(readBooks(dataDir, 'billing').rows.at(-1)).toMatchObject({
    account: NORTHWIND,
    ...FEBRUARY,
    page: pages,
  });
});

test('E2: the same key gets the same answer and one distinct row; with another body it is refused', async () => {
  const key = { 'idempotency-key': 'k1' };
  const first = await post('/auth/begin', { account: NORTHWIND }, key);
  const again = await post('/auth/begin', { account: NORTHWIND }, key);
  const fresh = await post('/auth/begin', { account: NORTHWIND });
  expect(again).toEqual(first);
  expect(fresh.body.challenge).not.toBe(first.body.challenge);
  expect(await post('/auth/begin', { account: 'acct_1911' }, key)).toMatchObject({ status: 409 });
  const { rows } = readBooks(dataDir, 'billing');
  expect(rows.map(({ kind, repeated = false }) => [kind, repeated])).toEqual([
    ['auth.begin', false],
    ['auth.begin', true],
    ['auth.begin', false],
    ['refused', false],
  ]);
  expect(distinct(rows, 'auth.')).toHaveLength(2);
});

test('E2, T1: keys and tokens stay good over a restart; the secret is for its owner only', async () => {
  const key = { 'idempotency-key': 'k1' };
  const first = await post('/auth/begin', { account: NORTHWIND }, key);
  const token = await authenticate(NORTHWIND);
  await billing.stop();
  billing = await startBilling({ dataDir });
  expect(await post('/auth/begin', { account: NORTHWIND }, key)).toEqual(first);
  expect((await invoices(token, FEBRUARY)).status).toBe(200);
  expect(statSync(join(dataDir, 'books', 'billing.secret')).mode & 0o777).toBe(0o600);
});

test('T1: without a token, with a made-up one, a grant in its place, or another account’s, nothing is shown', async () => {
  const token = await authenticate(NORTHWIND);
  const { challenge } = (await post('/auth/begin', { account: NORTHWIND })).body;
  const path = `/accounts/${NORTHWIND}/invoices?${new URLSearchParams(FEBRUARY)}`;
  expect(await get(path)).toMatchObject({ status: 401, body: { error: { code: 'token.wrong' } } });
  expect((await invoices(`${token}0`, FEBRUARY)).status).toBe(401);
  expect((await invoices(challenge, FEBRUARY)).status).toBe(401);
  expect((await invoices(challenge.replace('challenge', 'token'), FEBRUARY)).status).toBe(401);
  expect((await invoices(token, FEBRUARY, 'acct_1911')).status).toBe(403);
  expect((await post('/auth/answer', { challenge, answer: challenge })).status).toBe(401);
  expect(kinds().filter((kind) => kind === 'refused')).toHaveLength(6);
});

test.each([
  [{ ...FEBRUARY, from: '2026-02-01' }, 'range.invalid'],
  [{ ...FEBRUARY, to: '2026-02-30T00:00' }, 'range.invalid'],
  [{ from: FEBRUARY.to, to: FEBRUARY.from }, 'range.empty'],
  [{ ...FEBRUARY, page: '0' }, 'page.invalid'],
  [{ ...FEBRUARY, page: '9' }, 'page.invalid'],
])('a mistaken request is refused with its reason: %o', async (query, code) => {
  const answer = await invoices(await authenticate(NORTHWIND), query);
  expect(answer).toMatchObject({ status: 400, body: { error: { code, message: expect.any(String) } } });
});

test.each([
  ['GET', '/accounts', undefined, 400],
  ['GET', '/books/truth', undefined, 404],
  ['POST', '/accounts', {}, 404],
  ['POST', '/auth/begin', '{', 400],
  ['POST', '/auth/begin', { account: 'acct_1' }, 404],
  ['POST', '/auth/answer', { challenge: 'x', answer: 'x' }, 401],
  ['POST', '/auth/token', { grant: 'grant.acct_2040.1.x' }, 401],
  ['POST', '/auth/token', 'x'.repeat(1_100_000), 413],
])('%s %s %o is refused', async (method, path, body, status) => {
  const answer = method === 'GET' ? await get(path) : await post(path, body);
  expect(answer).toMatchObject({ status, body: { error: { code: expect.any(String) } } });
});

test('K1, K2: page 2 is held before its work until it is released, and only once', async () => {
  const token = await authenticate(NORTHWIND);
  const hooks = hooksOf(billing.url, dataDir);
  await hooks.arm({ hold: 'invoices.page', phase: 'before', where: { page: 2 } });
  expect((await invoices(token, FEBRUARY)).status).toBe(200);
  const second = invoices(token, { ...FEBRUARY, page: '2' });
  const { held, armed, seen } = await hooks.waitHeld();
  expect(held).toEqual([
    { phase: 'before', fact: { kind: 'invoices.page', account: NORTHWIND, ...FEBRUARY, page: 2 } },
  ]);
  expect([armed, seen['invoices.page']]).toEqual([[], 2]);
  expect(kinds().filter((kind) => kind === 'invoices.page')).toHaveLength(1);
  expect(await hooks.release()).toEqual({ released: 1, disarmed: 0 });
  expect((await second).body.page).toBe(2);
  expect((await invoices(token, { ...FEBRUARY, page: '2' })).status).toBe(200);
});

test('K3: a request held before its work, whose client goes away, is never done', async () => {
  const token = await authenticate(NORTHWIND);
  const hooks = hooksOf(billing.url, dataDir);
  await hooks.arm({ hold: 'invoices.page', phase: 'before', at: 2 });
  await invoices(token, FEBRUARY);
  const killed = new AbortController();
  const path = `${billing.url}/accounts/${NORTHWIND}/invoices?${new URLSearchParams({ ...FEBRUARY, page: '2' })}`;
  const dropped = fetch(path, { headers: { authorization: `Bearer ${token}` }, signal: killed.signal });
  await hooks.waitHeld();
  killed.abort();
  await expect(dropped).rejects.toThrow();
  await expect.poll(async () => (await hooks.state()).held).toEqual([]);
  expect(kinds().filter((kind) => kind === 'invoices.page')).toHaveLength(1);
});

test('K2: a hold lets go at its bound', async () => {
  const hooks = hooksOf(billing.url, dataDir);
  await hooks.arm({ hold: 'account.lookup', phase: 'after', release: 1 });
  expect((await get('/accounts?name=x')).status).toBe(200);
  expect((await hooks.state()).held).toEqual([]);
});

test('K4: without the key there are no hooks', async () => {
  const unknown = await get('/nowhere');
  expect(await get('/__hooks')).toEqual(unknown);
  expect(await get('/__hooks', { 'x-hook-key': 'guess' })).toEqual(unknown);
  expect(await post('/__hooks/release', {})).toEqual(unknown);
  expect(statSync(join(dataDir, 'books', 'hooks.key')).mode & 0o777).toBe(0o600);
});

test('H3: stop answers what is held, and is done when the port is free again', async () => {
  const hooks = hooksOf(billing.url, dataDir);
  await hooks.arm({ hold: 'account.lookup', phase: 'before' });
  const held = get('/accounts?name=x');
  await hooks.waitHeld();
  const port = Number(new URL(billing.url).port);
  await billing.stop();
  expect((await held).status).toBe(200);
  billing = await startBilling({ dataDir, port });
  expect((await get('/')).status).toBe(200);
});
