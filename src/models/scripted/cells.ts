/**
 * The code that the planner writes, one function for each kind of cell. People watch it, so it is written to be read.
 *
 * C1  Values enter as literals (`js`), never as code: a service that calls its path `"); evil("` gets a string.
 * C2  Each cell prints one line of JSON that names the cell; what was seen stands in it, and tokens never do.
 * C3  A cell that meets what it does not know throws: `HTTP 503: …` for a refusal, `Not as described: …` for an answer
 *     of another shape. It hides nothing and repairs nothing.
 */

import { monthName } from './months.ts';
import type { BillingApi, MailingApi } from './services.ts';

/** Names in the sandbox's heap that a cell makes, and that later cells stand on. */
export const MAKES = {
  find: ['findAccount', 'found', 'account'],
  open: ['BillingClient', 'client', 'identity'],
  load: ['months', 'loadMonth'],
  report: ['summarise'],
} as const;

export function describeCell(service: 'billing' | 'mailing', origin: string): string {
  return `// What does the ${service} service say about itself?
const ${service}Page = await fetch(${js(`${origin}/`)});
const ${service}Manual = await ${service}Page.text();
if (!${service}Page.ok) throw new Error(\`HTTP \${${service}Page.status}: \${${service}Manual}\`);
console.log(JSON.stringify({ cell: 'describe', text: ${service}Manual }));`;
}

export function findCell(origin: string, api: BillingApi, name: string): string {
  return `// Find the account by its whole name: there are similar ones.
async function findAccount(name) {
  const answer = await fetch(${js(`${origin}${api.lookup}?name=`)} + encodeURIComponent(name));
  if (!answer.ok) throw new Error(\`HTTP \${answer.status}: \${await answer.text()}\`);
  const { accounts } = await answer.json();
  if (!Array.isArray(accounts)) throw new Error('Not as described: there is no list of accounts');
  const same = accounts.filter((one) => one.name.trim().toLowerCase() === name.trim().toLowerCase());
  return { names: accounts.map((one) => one.name), account: same.length === 1 ? same[0] : null };
}

const found = await findAccount(${js(name)});
const account = found.account;
console.log(JSON.stringify({ cell: 'find', ...found }));`;
}

/** Nobody named the account: if the service has just one, it is that one. */
export function listCell(origin: string, api: BillingApi): string {
  return `// No account was named. If there is only one, it is that one.
const answer = await fetch(${js(`${origin}${api.lookup}`)});
const { accounts = [] } = await answer.json();
const account = accounts.length === 1 ? accounts[0] : null;
console.log(JSON.stringify({ cell: 'find', status: answer.status, names: accounts.map((one) => one.name), account }));`;
}

export function openCell(origin: string, api: BillingApi): string {
  const [before = '', after = ''] = api.invoices.split('ACCOUNT_ID');
  return `// A client that authenticates in three calls, keeps its token to itself, and reads page after page.
class BillingClient {
  #token = null;

  constructor(origin, account) {
    this.origin = origin;
    this.account = account;
    this.requests = 0;
  }

  async authenticate() {
    this.#token = null;
    const account = this.account.id;
    const { challenge } = await this.#call('POST', ${js(api.begin)}, { account });
    const answer = \`\${[...challenge].reverse().join('')}:\${account}\`;
    const { grant } = await this.#call('POST', ${js(api.answer)}, { challenge, answer });
    const { token } = await this.#call('POST', ${js(api.token)}, { grant });
    if (!token) throw new Error('Not as described: no token came');
    this.#token = token;
    return this;
  }

  async invoices(from, to) {
    const rows = [];
    for (let page = 1; page !== null; ) {
      const path = ${js(before)} + this.account.id + ${js(`${after}?`)};
      const { invoices, pages, next } = await this.#call('GET', \`\${path}from=\${from}&to=\${to}&page=\${page}\`);
      if (!Array.isArray(invoices) || !Number.isInteger(pages)) throw new Error('Not as described: no page of invoices');
      if (next !== null && next !== page + 1) throw new Error(\`Not as described: page \${next} after page \${page}\`);
      console.log(\`page \${page} of \${pages}: \${invoices.length} invoices\`);
      rows.push(...invoices);
      page = next;
    }
    return rows;
  }

  async #call(method, path, body) {
    const headers = { 'Content-Type': 'application/json' };
    if (this.#token) headers.Authorization = \`Bearer \${this.#token}\`;
    this.requests += 1;
    const answer = await fetch(this.origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(\`HTTP \${answer.status}: \${await answer.text()}\`);
    return answer.json();
  }
}

const client = await new BillingClient(${js(origin)}, account).authenticate();
// Holds the objects themselves: later cells can tell whether they still have the very same ones.
const identity = new WeakSet([client]);
console.log(JSON.stringify({ cell: 'open', account: account.id, requests: client.requests }));`;
}

export function renewCell(): string {
  return `// The token was refused: authenticate again, with the same client.
await client.authenticate();
console.log(JSON.stringify({ cell: 'renew', requests: client.requests, sameClient: identity.has(client) }));`;
}

export function loadCell(api: BillingApi | null, month: string): string {
  const print = `const same = { sameClient: identity.has(client), sameRows: identity.has(months) };
console.log(JSON.stringify({ cell: 'load', ...loaded, ...same, kept: [...months.keys()], requests: client.requests }));
same;`;
  if (api === null) {
    return `// ${monthName(month)}, with the client and the conversion that are still here.
const loaded = await loadMonth(${js(month)});
${print}`;
  }
  return `// A month is meant in UTC, but the service filters and writes local time. So the edges of the month are moved
// into local time, and each row is checked by its instant.
const months = new Map();
identity.add(months);

async function loadMonth(month) {
  const [year, number] = month.split('-').map(Number);
  const [start, end] = [Date.UTC(year, number - 1), Date.UTC(year, number)];
  const offset = account.${api.offset} * 60_000;
  const local = (instant) => new Date(instant + offset).toISOString().slice(0, 16);
  const instant = (text) => Date.parse(\`\${text}Z\`) - offset;

  const rows = await client.invoices(local(start), local(end));
  for (const row of rows) {
    const isInMonth = instant(row.issuedAt) >= start && instant(row.issuedAt) < end;
    const isWhole = typeof row.customer === 'string' && Number.isInteger(row.amountCents);
    if (!isInMonth || !isWhole) throw new Error(\`Not as described: \${JSON.stringify(row)}\`);
  }
  months.set(month, rows);
  return { month, from: local(start), to: local(end), rows: rows.length };
}

const loaded = await loadMonth(${js(month)});
${print}`;
}

export function reportCell(month: string, leaveOut: readonly string[], defines: boolean): string {
  const call = `const report = summarise(${js(month)}, ${js(leaveOut)});
const same = { sameClient: identity.has(client), sameRows: identity.has(months) };
console.log(JSON.stringify({ cell: 'report', ...report, ...same }));
same;`;
  if (!defines) {
    const without = leaveOut.length === 0 ? '' : ', some customers left out';
    return `// Sum ${monthName(month)} up from the rows in memory${without}.\n${call}`;
  }
  return `// Sum a month up from the rows in memory. Whoever is to be left out is listed apart.
function summarise(month, leaveOut) {
  const rows = months.get(month);
  if (!rows) throw new Error(\`The rows of \${month} are gone\`);
  const isOut = (row) => leaveOut.some((name) => row.customer.toLowerCase().includes(name));
  const counted = rows.filter((row) => !isOut(row));
  const currencies = [...new Set(rows.map((row) => row.currency))];
  if (currencies.length > 1) throw new Error(\`Not as described: amounts in \${currencies.join(' and ')}\`);
  return {
    month,
    currency: currencies[0] ?? account.currency,
    ...total(counted),
    byCustomer: byCustomer(counted),
    leftOut: byCustomer(rows.filter(isOut)),
    localDateElsewhere: counted.filter((row) => !row.issuedAt.startsWith(month)).length,
  };

  function byCustomer(some) {
    return [...new Set(some.map((row) => row.customer))]
      .map((customer) => ({ customer, ...total(some.filter((row) => row.customer === customer)) }))
      .sort((a, b) => b.totalCents - a.totalCents || (a.customer < b.customer ? -1 : 1));
  }

  function total(some) {
    return { count: some.length, totalCents: some.reduce((sum, row) => sum + row.amountCents, 0) };
  }
}

${call}`;
}

export interface Letter {
  readonly subject: string;
  readonly lines: readonly string[];
}

export function mailCell(origin: string, api: MailingApi, letter: Letter): string {
  const lines = letter.lines.map((line) => `    ${js(line)},`).join('\n');
  return `// Mail the report to the owner of the account, once.
const letter = {
  to: account.owner.email,
  subject: ${js(letter.subject)},
  body: [
    \`Hello \${account.owner.name},\`,
    '',
${lines}
  ].join('\\n'),
};
const posted = await fetch(${js(`${origin}${api.messages}`)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(letter),
});
console.log(JSON.stringify({
  cell: 'mail', to: letter.to, owner: account.owner.name, status: posted.status, answer: await posted.text(),
}));`;
}

/** A literal of JSON data, in single quotes where that reads better (C1). */
function js(value: string | readonly string[]): string {
  if (typeof value !== 'string') return `[${value.map(js).join(', ')}]`;
  return /^[^'\\\p{Cc}\u2028\u2029]*$/u.test(value) ? `'${value}'` : JSON.stringify(value);
}
