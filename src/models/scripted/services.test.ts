// Owns: that the planner reads how a service is used from what the service says, and guesses nothing.
import { expect, test } from 'vitest';
import { description } from '../../services/billing/description.ts';
import { readBilling, readMailing } from './services.ts';

const billing = JSON.stringify(description);

test('the billing service describes itself well enough', () => {
  expect(readBilling(billing)).toEqual({
    ok: true,
    api: {
      lookup: '/accounts',
      invoices: '/accounts/ACCOUNT_ID/invoices',
      begin: '/auth/begin',
      answer: '/auth/answer',
      token: '/auth/token',
      offset: 'utcOffsetMinutes',
      range: { first: '2025-12', last: '2026-07' },
    },
  });
});

test('paths and fields are the ones that the description names', () => {
  const moved = billing
    .replaceAll('/auth/', '/v2/login/')
    .replaceAll('/accounts', '/customers')
    .replaceAll('utcOffsetMinutes', 'zoneOffsetMinutes');
  expect(readBilling(moved)).toMatchObject({
    ok: true,
    api: { lookup: '/customers', begin: '/v2/login/begin', offset: 'zoneOffsetMinutes' },
  });
});

test.each([
  [billing.replace('in reverse order', 'in upper case'), ['how its challenge is answered']],
  [
    billing.replace('local time = UTC + utcOffset', 'local time = UTC - utcOffset'),
    ['how local time follows from UTC'],
  ],
  [
    billing.replaceAll('"call":"GET /accounts?name=', '"call":"GET /accounts?like='),
    ['how an account is found by its name'],
  ],
])('another rule is not guessed at: %#', (text, missing) => {
  expect(readBilling(text)).toEqual({ ok: false, missing });
});

test.each(['', '<html>', 'null', '[]', '{"service":"something else"}'])('%j is no description', (text) => {
  expect(readBilling(text)).toMatchObject({ ok: false });
  expect(readMailing(text)).toMatchObject({ ok: false });
});

test('a mailing service takes a message with to, subject and body', () => {
  const endpoint = { call: 'POST /outbox', body: { to: '', subject: '', body: '' } };
  expect(readMailing(JSON.stringify({ endpoints: [endpoint] }))).toEqual({
    ok: true,
    api: { messages: '/outbox' },
  });
  expect(readMailing(JSON.stringify({ endpoints: [{ ...endpoint, body: { text: '' } }] }))).toMatchObject({
    ok: false,
  });
});
