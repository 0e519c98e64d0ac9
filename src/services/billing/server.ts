/**
 * The sample billing service: find an account, authenticate in three calls, read invoices page by page.
 *
 * Owns its routes. The data is `world.ts`, the wording `description.ts`; order, books and hooks are the edge's
 * (`service.ts`).
 *
 * I1. Months are nobody's business here: it filters by local time, as its description says.
 * I2. Everything it answers follows from the request, the world, the secret and the row; it keeps no state.
 */
import { join } from 'node:path';
import { type BillingFact, booksDir } from '../books.ts';
import { type Call, ok, type Reply, refuse, textField } from '../http.ts';
import { same, secretIn } from '../secret.ts';
import { type Deed, type Service, type ServiceOptions, startService } from '../service.ts';
import { description } from './description.ts';
import { instantOf, localTime, offsetText } from './local-time.ts';
import { seal, unseal } from './seal.ts';
import { type Account, accounts, type Invoice, invoicesOf } from './world.ts';

const PAGE_SIZE = 10;
const TOKENS_EXPIRE_AT = '2099-12-31T00:00:00Z';

type Planned = Deed<BillingFact> | Reply;

export function startBilling(options: ServiceOptions): Promise<Service> {
  const secret = secretIn(join(booksDir(options.dataDir), 'billing.secret'));
  return startService('billing', options, () => (call) => route(call, secret));
}

function route(call: Call, secret: string): Planned {
  switch (`${call.method} ${call.path}`) {
    case 'GET /':
      return ok(description);
    case 'GET /accounts':
      return findAccounts(call);
    case 'POST /auth/begin':
      return beginAuth(call, secret);
    case 'POST /auth/answer':
      return answerAuth(call, secret);
    case 'POST /auth/token':
      return giveToken(call, secret);
  }
  const [, accountId] = /^\/accounts\/([^/]+)\/invoices$/.exec(call.path) ?? [];
  if (call.method === 'GET' && accountId !== undefined) return readInvoices(call, accountId, secret);
  return refuse(404, 'path.unknown', 'No such path; GET / describes this API');
}

function findAccounts(call: Call): Planned {
  const name = call.query.get('name')?.trim();
  if (!name) return refuse(400, 'name.missing', 'Say which account: ?name=…');
  const found = accounts.filter((one) => one.name.toLowerCase().includes(name.toLowerCase()));
  return { fact: { kind: 'account.lookup', name }, reply: () => ok({ accounts: found.map(accountRecord) }) };
}

function beginAuth(call: Call, secret: string): Planned {
  const account = textField(call.body, 'account');
  if (account === undefined) return refuse(400, 'account.missing', 'Wanted: { "account": ACCOUNT_ID }');
  if (accountById(account) === undefined) return refuse(404, 'account.unknown', `No account ${account}`);
  return {
    fact: { kind: 'auth.begin', account },
    key: call.header('idempotency-key'),
    reply: (row) => ok({ challenge: seal(secret, 'challenge', { account, serial: row.n }) }),
  };
}

function answerAuth(call: Call, secret: string): Planned {
  const challenge = textField(call.body, 'challenge');
  const answer = textField(call.body, 'answer');
  if (challenge === undefined || answer === undefined) {
    return refuse(400, 'answer.missing', 'Wanted: { "challenge": …, "answer": … }');
  }
  const sealed = unseal(secret, 'challenge', challenge);
  if (sealed === undefined)
    return refuse(401, 'challenge.unknown', 'This challenge was not given by this service');
  const right = `${[...challenge].reverse().join('')}:${sealed.account}`;
  if (!same(answer, right))
    return refuse(401, 'answer.wrong', 'That is not the answer; GET / says how it is made');
  return {
    fact: { kind: 'auth.answer', ...sealed },
    key: call.header('idempotency-key'),
    reply: () => ok({ grant: seal(secret, 'grant', sealed) }),
  };
}

function giveToken(call: Call, secret: string): Planned {
  const grant = textField(call.body, 'grant');
  if (grant === undefined) return refuse(400, 'grant.missing', 'Wanted: { "grant": … }');
  const sealed = unseal(secret, 'grant', grant);
  if (sealed === undefined) return refuse(401, 'grant.unknown', 'This grant was not given by this service');
  return {
    fact: { kind: 'auth.token', ...sealed },
    key: call.header('idempotency-key'),
    reply: () => ok({ token: seal(secret, 'token', sealed), expiresAt: TOKENS_EXPIRE_AT }),
  };
}

function readInvoices(call: Call, accountId: string, secret: string): Planned {
  const [, token = ''] = /^Bearer (.+)$/i.exec(call.header('authorization') ?? '') ?? [];
  const bearer = unseal(secret, 'token', token);
  if (bearer === undefined) {
    return refuse(401, 'token.wrong', 'Authenticate first; GET / says how', { 'www-authenticate': 'Bearer' });
  }
  const account = accountById(accountId);
  if (account === undefined) return refuse(404, 'account.unknown', `No account ${accountId}`);
  if (bearer.account !== account.id)
    return refuse(403, 'token.other_account', 'This token is for another account');

  const from = call.query.get('from') ?? '';
  const to = call.query.get('to') ?? '';
  const [fromMs, toMs] = [instantOf(from, account.utcOffsetMinutes), instantOf(to, account.utcOffsetMinutes)];
  if (fromMs === undefined || toMs === undefined) {
    return refuse(400, 'range.invalid', '"from" and "to" are local times, written YYYY-MM-DDTHH:MM');
  }
  if (fromMs >= toMs) return refuse(400, 'range.empty', '"from" must be earlier than "to"');

  const matching = invoicesOf(account.id).filter((one) => one.issuedAtMs >= fromMs && one.issuedAtMs < toMs);
  const pages = Math.max(1, Math.ceil(matching.length / PAGE_SIZE));
  const page = Number(call.query.get('page') ?? 1);
  if (!Number.isInteger(page) || page < 1 || page > pages) {
    return refuse(400, 'page.invalid', `"page" is a whole number from 1 to ${pages}`);
  }
  const invoices = matching
    .slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
    .map((one) => invoiceRecord(one, account.utcOffsetMinutes));
  return {
    fact: { kind: 'invoices.page', account: account.id, from, to, page },
    reply: () => ok({ page, pages, invoices, next: page < pages ? page + 1 : null }),
  };
}

function accountById(id: string): Account | undefined {
  return accounts.find((one) => one.id === id);
}

function accountRecord({ utcOffsetMinutes, ...rest }: Account) {
  return { ...rest, utcOffset: offsetText(utcOffsetMinutes), utcOffsetMinutes };
}

function invoiceRecord({ issuedAtMs, ...rest }: Invoice, utcOffsetMinutes: number) {
  return { ...rest, issuedAt: localTime(issuedAtMs, utcOffsetMinutes) };
}
