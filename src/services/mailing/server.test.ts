import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { distinct, readBooks } from '../books.ts';
import { hooksOf } from '../hook-client.ts';
import type { Service } from '../service.ts';
import { startMailing } from './server.ts';

const letter = { to: 'mira@northwind-trading.example', subject: 'March', body: 'It went well.' };

let dataDir: string;
let mailing: Service;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'outlast-mailing-'));
  mailing = await startMailing({ dataDir });
});
afterEach(async () => {
  await mailing.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function mail(body: unknown, reference?: string, signal?: AbortSignal): Promise<Response> {
  const headers = reference === undefined ? {} : { 'x-reference': reference };
  return fetch(`${mailing.url}/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

async function messagesOf(reference: string): Promise<unknown> {
  return (await fetch(`${mailing.url}/messages?reference=${reference}`)).json();
}

const accepted = () => distinct(readBooks(dataDir, 'mailing').rows, 'mail.accepted');

test('M1, M2: mail is accepted, booked, and listed by reference, twice if it came twice', async () => {
  expect(await messagesOf('r1')).toEqual({ messages: [] });
  const first = await mail(letter, 'r1');
  expect(first.status).toBe(201);
  const receipt = (await first.json()) as object;
  expect(receipt).toEqual({ id: 'mail_2', acceptedAt: expect.any(String) });
  expect(await messagesOf('r1')).toEqual({ messages: [{ ...receipt, reference: 'r1', ...letter }] });
  await mail(letter, 'r1');
  await mail(letter, 'r2');
  await mail(letter);
  expect(await messagesOf('r1')).toMatchObject({ messages: [{ id: 'mail_2' }, { id: 'mail_4' }] });
  expect(accepted().map((row) => 'reference' in row && row.reference)).toEqual(['r1', 'r1', 'r2', null]);
});

test('M2: what was accepted is still known after a restart', async () => {
  await mail(letter, 'r1');
  await mailing.stop();
  mailing = await startMailing({ dataDir });
  expect(await messagesOf('r1')).toMatchObject({ messages: [letter] });
});

test.each([[{}], [{ ...letter, to: 'nobody' }], [{ ...letter, subject: 7 }], [[]], ['text']])(
  'bad input %o is refused and no mail',
  async (body) => {
    const response = await mail(body, 'r1');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'message.invalid' } });
    expect(accepted()).toEqual([]);
  },
);

test('a question needs a reference; other paths are unknown', async () => {
  expect((await fetch(`${mailing.url}/messages`)).status).toBe(400);
  expect((await fetch(`${mailing.url}/nowhere`)).status).toBe(404);
  expect(JSON.stringify(await (await fetch(mailing.url)).json())).toContain('X-Reference');
});

test('K3: mail held after its acceptance stands, though its sender was killed before the answer', async () => {
  const hooks = hooksOf(mailing.url, dataDir);
  await hooks.arm({ hold: 'mail.accepted', phase: 'after' });
  const killed = new AbortController();
  const dropped = mail(letter, 'r1', killed.signal);
  await hooks.waitHeld();
  expect(accepted()).toHaveLength(1);
  killed.abort();
  await expect(dropped).rejects.toThrow();
  expect(await messagesOf('r1')).toMatchObject({ messages: [letter] });
});
