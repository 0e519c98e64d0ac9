// The sample grants against the sample services as they are.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json } from '../../lib/json.ts';
import { startBilling } from '../../services/billing/server.ts';
import { readBooks } from '../../services/books.ts';
import { startMailing } from '../../services/mailing/server.ts';
import type { Service } from '../../services/service.ts';
import { noFiles } from '../../testing/no-files.ts';
import { isRefusal, type RunContext, type Tool } from '../port.ts';
import type { FetchResult } from './answer.ts';
import { fetchTool } from './fetch.ts';
import { sampleGrants } from './samples.ts';

let dataDir: string;
let billing: Service;
let mailing: Service;
let tool: Tool;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'outlast-tools-'));
  billing = await startBilling({ dataDir });
  mailing = await startMailing({ dataDir });
  const grants = sampleGrants({ billingUrl: billing.url, mailingUrl: mailing.url });
  const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x5a);
  tool = fetchTool({ grants, sealer: { seal: flip, open: flip } });
});
afterEach(async () => {
  await Promise.all([billing.stop(), mailing.stop()]);
  rmSync(dataDir, { recursive: true, force: true });
});

let effects = 0;
const context = (reference: string): RunContext => ({
  reference,
  epoch: 1,
  attempt: 1,
  signal: new AbortController().signal,
  ...noFiles,
});

function planOf(args: Json) {
  const plan = tool.plan(args);
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  return plan;
}

async function call(
  method: string,
  url: string,
  body?: Json,
  headers: Json = {},
  reference = `r${++effects}`,
) {
  const plan = planOf({ url, method, headers, body: body === undefined ? null : JSON.stringify(body) });
  const answer = await tool.run(plan.args, context(reference));
  if (answer.status !== 'done') throw new Error(answer.message);
  const result = answer.result as FetchResult;
  return { status: result.status, json: JSON.parse(result.body) as Record<string, string> };
}

test('what is granted, and as what', () => {
  const kind = (method: string, url: string) => {
    const plan = tool.plan({ url, method });
    return isRefusal(plan) ? plan.refused.code : plan.capability.kind;
  };
  expect(kind('GET', `${billing.url}/`)).toBe('read');
  expect(kind('GET', `${billing.url}/accounts/a1/invoices?page=2`)).toBe('read');
  expect(kind('POST', `${billing.url}/auth/begin`)).toBe('keyed');
  expect(kind('POST', `${billing.url}/auth/token`)).toBe('keyed');
  expect(kind('POST', `${mailing.url}/messages`)).toBe('queryable');
  expect(kind('GET', `${mailing.url}/messages?reference=x`)).toBe('read');
  for (const url of [billing.url, mailing.url]) {
    expect(kind('GET', `${url}/__hooks`)).toBe('grant.none');
    expect(kind('POST', `${url}/__hooks`)).toBe('grant.none');
    expect(kind('DELETE', `${url}/messages`)).toBe('grant.none');
  }
});

test('a login: repeated under its key it is one, and the token is used without being seen', async () => {
  const { json: found } = await call('GET', `${billing.url}/accounts?name=Northwind`);
  const [account] = found.accounts as unknown as [{ id: string }];
  const begun = await call('POST', `${billing.url}/auth/begin`, { account: account.id }, {}, 'login-1');
  expect(await call('POST', `${billing.url}/auth/begin`, { account: account.id }, {}, 'login-1')).toEqual(
    begun,
  );
  const { challenge = '' } = begun.json;
  const answer = `${[...challenge].reverse().join('')}:${account.id}`;
  const { json: answered } = await call('POST', `${billing.url}/auth/answer`, { challenge, answer });
  const { json: given } = await call('POST', `${billing.url}/auth/token`, { grant: answered.grant ?? '' });
  expect(given).toMatchObject({ token: expect.stringMatching(/^sealed:v1:/), expiresAt: expect.any(String) });

  const invoices = `${billing.url}/accounts/${account.id}/invoices?from=2026-02-01T00:00&to=2026-03-01T00:00`;
  const bearer = { Authorization: `Bearer ${given.token}` };
  expect(await call('GET', invoices, undefined, bearer)).toMatchObject({ status: 200, json: { page: 1 } });
  expect((await call('GET', invoices)).status).toBe(401);
  const rows = readBooks(dataDir, 'billing').rows.filter((row) => row.kind === 'auth.begin');
  expect(rows.map(({ key, repeated }) => [key, repeated])).toEqual([
    ['login-1', undefined],
    ['login-1', true],
  ]);
});

test('a mail: asked for by its reference, it is absent before and found after', async () => {
  const mail = { to: 'a@b.example', subject: 's', body: 'b' };
  const { args } = planOf({ url: `${mailing.url}/messages`, method: 'POST', body: JSON.stringify(mail) });
  expect(await tool.find?.(args, context('mail-1'))).toEqual({ status: 'absent' });
  const sent = await call('POST', `${mailing.url}/messages`, mail, {}, 'mail-1');
  expect(sent.status).toBe(201);
  const found = await tool.find?.(args, context('mail-1'));
  if (found?.status !== 'done') throw new Error('not found');
  const result = found.result as FetchResult;
  expect(JSON.parse(result.body)).toMatchObject({ ...mail, ...sent.json, reference: 'mail-1' });
  expect(await tool.find?.(args, context('mail-2'))).toEqual({ status: 'absent' });
});
