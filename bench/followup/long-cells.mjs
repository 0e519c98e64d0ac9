// Owns: the code of the long job, one function for each kind of cell. Each prints a line of JSON about what it has done and,
// where there is more of its kind, what comes next.

const js = (value) => JSON.stringify(value);

export function findCell(origin, api, name) {
  return `const listed = await fetch(${js(`${origin}${api.lookup}?name=${encodeURIComponent(name)}`)});
const accounts = (await listed.json()).accounts.map(({ owner, ...one }) => one);
console.log(JSON.stringify({ cell: 'find', accounts }));`;
}

/** The first client, and all that the others stand on. */
export function firstCell(origin, { api, accounts, given = false }) {
  const [before = '', after = ''] = api.invoices.split('ACCOUNT_ID');
  const { first, last } = api.range;
  return `${given ? `const accounts = ${js(accounts)};\n` : ''}class Client {
  #token = null;
  constructor(account) {
    this.account = account;
  }
  async authenticate() {
    const { id } = this.account;
    const { challenge } = await this.#call('POST', ${js(api.begin)}, { account: id });
    const answer = [...challenge].reverse().join('') + ':' + id;
    const { grant } = await this.#call('POST', ${js(api.answer)}, { challenge, answer });
    this.#token = (await this.#call('POST', ${js(api.token)}, { grant })).token;
    return this;
  }
  // A month is meant in UTC, the service filters by local time: the edges are moved.
  async month(month) {
    const [year, number] = month.split('-').map(Number);
    const local = (ms) => new Date(ms + this.account.${api.offset} * 60_000).toISOString().slice(0, 16);
    const [from, to] = [local(Date.UTC(year, number - 1)), local(Date.UTC(year, number))];
    const rows = [];
    for (let page = 1; page !== null; ) {
      const path = ${js(before)} + this.account.id + ${js(`${after}?`)};
      const { invoices, next } = await this.#call('GET', path + 'from=' + from + '&to=' + to + '&page=' + page);
      rows.push(...invoices);
      page = next;
    }
    return rows;
  }
  async #call(method, path, body) {
    const headers = { 'Content-Type': 'application/json' };
    if (this.#token) headers.Authorization = 'Bearer ' + this.#token;
    const answer = await fetch(${js(origin)} + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error('HTTP ' + answer.status + ': ' + (await answer.text()));
    return answer.json();
  }
}

const clients = new Map();
const table = new Map();
const months = [];
for (let at = ${js(first)}; at <= ${js(last)}; ) {
  months.push(at);
  const [year, number] = at.split('-').map(Number);
  at = new Date(Date.UTC(year, number)).toISOString().slice(0, 7);
}
const missing = () => accounts.flatMap(({ id }) => months.map((month) => [id, month]))
  .filter(([id, month]) => !table.has(id + ' ' + month));

async function open(account) {
  clients.set(account.id, await new Client(account).authenticate());
  const next = accounts.find(({ id }) => !clients.has(id))?.id ?? null;
  console.log(JSON.stringify({ cell: 'open', opened: clients.size, next, nextMonth: missing()[0] ?? null }));
}

async function load(id, month) {
  table.set(id + ' ' + month, await clients.get(id).month(month));
  const rows = [...table.values()].flat().length;
  console.log(JSON.stringify({ cell: 'load', done: table.size, rows, nextMonth: missing()[0] ?? null }));
}

await open(accounts[0]);`;
}

export const clientCell = (id) => `await open(accounts.find((one) => one.id === ${js(id)}));`;

export const loadCell = ([id, month]) => `await load(${js(id)}, ${js(month)});`;

export function overdueCell() {
  return `const due = (id) => months.flatMap((month) => table.get(id + ' ' + month)).filter((row) => row.status === 'overdue');
const overdue = accounts.map(({ id, name, currency }) => {
  const rows = due(id);
  return { name, currency, count: rows.length, totalCents: rows.reduce((sum, row) => sum + row.amountCents, 0) };
});
console.log(JSON.stringify({ cell: 'overdue', overdue }));`;
}
