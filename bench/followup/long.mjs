// Owns: the long job: a table of the invoices of six accounts, month by month, in the heap. Its planner, its cells, and what
// is true about it.
//
// L1  A pure function of the request, as the shipped planner. What is there it knows from the live objects that the present
//     lists, what is next from what the last cell printed: so it goes on where the view was compacted, too.
// L2  A cell for each client and each month of an account: this is how long the job is. Whoever has lost the table makes
//     it again in the same steps.

import { describeCell } from '../../dist/models/scripted/cells.js';
import { observe } from '../../dist/models/scripted/observations.js';
import { readBilling } from '../../dist/models/scripted/services.js';
import { money } from '../../dist/models/scripted/wording.js';
import { accounts, invoicesOf } from '../../dist/services/billing/world.js';
import { clientCell, findCell, firstCell, loadCell, overdueCell } from './long-cells.mjs';
import { HEAD, lineOf, summaryIn } from './summary.mjs';

const NAMED = 'every account with "Trad" in its name';
const OVERDUE = 'what is overdue in each account';

export const JOB = `Make a table of all invoices of ${NAMED}, month by month, and say how many there are.`;
export const FOLLOW_UP = `Now say ${OVERDUE}, over all months.`;
/** The same from nothing: the request as a person repeats it to somebody who knows nothing of the table. */
export const ANEW = `From all invoices of ${NAMED}, say ${OVERDUE}, over all months.`;

const people = ({ messages }) => messages.filter(({ role, text }) => role === 'user' && !isPresent(text));
const isPresent = (text) => text.startsWith('[outlast] The present');
const says = (request, words) => people(request).some(({ text }) => text.includes(words));

export const isLong = (request) => says(request, NAMED) || says(request, TABLE);

export function long(request) {
  const seen = observe(request);
  const last = seen.entries.findLast(({ kind }) => kind === 'called');
  if (last && last.status !== 'done') return answer(`I could not go on: ${last.text}`);
  const { live } = seen.present;
  const data = last?.data ?? {};
  const known = knownFrom(seen, data);
  const origin = seen.services.get('billing');
  if (!live.has('accounts') && known.accounts === null) {
    if (known.api === null) {
      return run('describe', 'I read how the service is used.', describeCell('billing', origin), {
        service: 'billing',
      });
    }
    return run('find', 'I look for the accounts.', findCell(origin, known.api, 'Trad'));
  }
  if (!live.has('table')) {
    return run('open', 'I authenticate for the first account.', firstCell(origin, known));
  }
  if (data.cell === 'open' && data.next !== null) return run('open', 'And the next.', clientCell(data.next));
  const month = data.cell === 'open' || data.cell === 'load' ? data.nextMonth : null;
  if (month) return run('load', `${month[0]}, ${month[1]}.`, loadCell(month));
  if (!says(request, OVERDUE))
    return answer(`The table has ${data.rows} invoices in ${data.done} months of accounts.`);
  if (data.cell !== 'overdue') return run('overdue', 'I add up what is overdue.', overdueCell());
  return answer(overdueLines(data.overdue));
}

/** What stands in a result, or in the summary that the task began from. */
function knownFrom(seen, data) {
  const summary = summaryIn(seen.entries);
  if (summary !== null) {
    return {
      accounts: JSON.parse(lineOf(summary, ACCOUNTS)),
      api: JSON.parse(lineOf(summary, API)),
      given: true,
    };
  }
  const manual = seen.entries.findLast(({ kind, data }) => kind === 'called' && data?.cell === 'describe');
  const reading = manual && readBilling(manual.data.text);
  return { accounts: data.cell === 'find' ? data.accounts : null, api: reading?.ok ? reading.api : null };
}

const run = (cell, say, source, more = {}) => ({
  ...{ kind: 'run', say, source },
  note: { cell, ...more, lost: false },
});
const answer = (text) => ({ kind: 'answer', text });

// ── the summary ────────────────────────────────────────────────────────────────────────────────────────────

const TABLE = 'A table of all invoices was made';
const ACCOUNTS = 'The accounts: ';
const API = 'The paths and fields of the billing service: ';

export function longSummary(request) {
  const { entries } = observe(request);
  const dataOf = (cell) => entries.findLast(({ data }) => data?.cell === cell)?.data;
  const { rows, done } = dataOf('load');
  return [
    HEAD,
    `${TABLE}: ${rows} rows, ${done} months of accounts.`,
    `${ACCOUNTS}${JSON.stringify(dataOf('find').accounts)}`,
    'Their dates are local, a month is meant in UTC, so the edges have to be moved by each offset.',
    `${API}${JSON.stringify(readBilling(dataOf('describe').text).api)}`,
  ].join('\n');
}

// ── what is true ───────────────────────────────────────────────────────────────────────────────────────────

const overdueLines = (all) =>
  all.map(({ name, count, totalCents, currency }) => lineFor(name, count, totalCents, currency)).join('\n');

const lineFor = (name, count, totalCents, currency) =>
  `- ${name}: ${count} overdue, ${money(totalCents, currency)}`;

/** By the data of the service itself, whatever was read of it. */
export function isRightTable(text) {
  const all = accounts.reduce((sum, { id }) => sum + invoicesOf(id).length, 0);
  return text.includes(` ${all} invoices`);
}

export function isRightOverdue(text) {
  const lines = new Set(text.split('\n'));
  return accounts.every(({ id, name, currency }) => {
    const due = invoicesOf(id).filter(({ status }) => status === 'overdue');
    const totalCents = due.reduce((sum, { amountCents }) => sum + amountCents, 0);
    return lines.has(lineFor(name, due.length, totalCents, currency));
  });
}
