/**
 * What `GET /` answers: the whole billing API in plain words. An agent that has read it needs nothing else.
 * Owns the wording; `server.ts` does what it says, and `server.test.ts` walks through it.
 */
import { FIRST_MONTH, LAST_MONTH } from './world.ts';

export const description = {
  service: 'Sample billing service',
  about: `Accounts and their invoices, from ${FIRST_MONTH} to ${LAST_MONTH}. All bodies are JSON. Amounts are whole cents.`,
  time: {
    months:
      'A month always means the month in UTC: February 2026 is from 2026-02-01T00:00 UTC up to, and without, 2026-03-01T00:00 UTC.',
    localTime:
      'But "issuedAt" of an invoice, and "from" and "to" of a request, are in the local time of the account, written YYYY-MM-DDTHH:MM without an offset.',
    conversion:
      'local time = UTC + utcOffset. The account record holds it as "utcOffset" (like "-05:00") and as "utcOffsetMinutes" (like -300); it is the same all year. So for an account at -05:00, February 2026 in UTC is from=2026-01-31T19:00 to=2026-02-28T19:00.',
  },
  authentication: {
    about:
      'Finding an account needs no token; reading invoices does. Three calls give a token for one account. Use it as the header "Authorization: Bearer TOKEN" until it expires.',
    steps: [
      'POST /auth/begin with { "account": ACCOUNT_ID } answers { challenge }.',
      'POST /auth/answer with { "challenge": challenge, "answer": answer } answers { grant }. The answer is the challenge with its characters in reverse order, then ":", then the account id.',
      'POST /auth/token with { "grant": grant } answers { token, expiresAt }.',
    ],
    repeating:
      'Each of the three accepts a header Idempotency-Key: the same key with the same body gets the same answer again, for ever.',
  },
  endpoints: [
    {
      call: 'GET /accounts?name=TEXT',
      answers:
        '{ accounts: [{ id, name, utcOffset, utcOffsetMinutes, currency, owner: { name, email } }] }: each account whose name contains the text, in any case. Names can be similar; compare the whole name.',
    },
    {
      call: 'GET /accounts/ACCOUNT_ID/invoices?from=LOCAL&to=LOCAL&page=N',
      headers: { Authorization: 'Bearer TOKEN' },
      answers:
        '{ page, pages, invoices: [{ id, customer, customerId, amountCents, currency, issuedAt, status }], next }: invoices with from <= issuedAt < to, in the order of issue. Every status (paid, open, overdue) counts in a total.',
    },
  ],
  paging:
    'A page holds 10 invoices. "page" counts from 1 and is 1 when left out; "pages" says how many there are (at least 1); "next" is the number of the next page, or null on the last.',
  errors:
    'A refusal has a status of 400 or above and { error: { code, message } }: 400 a mistake in the request, 401 not authenticated, 403 a token of another account, 404 unknown, 409 an Idempotency-Key used for another request.',
};
