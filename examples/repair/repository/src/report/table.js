import { formatAmount } from '../money/format.js';
import { padEnd, padStart } from '../text/pad.js';
import { plural } from '../text/plural.js';

/** A report as lines of text, amounts aligned. */
export function renderTable({ month, currency, count, totals }) {
  const lines = [
    ...totals.rows.map(({ category, cents }) => [category, formatAmount(cents, currency)]),
    ['Total', formatAmount(totals.cents, currency)],
  ];
  const names = Math.max(...lines.map(([name]) => name.length));
  const amounts = Math.max(...lines.map(([, amount]) => amount.length));
  const rule = '-'.repeat(names + amounts + 2);
  const rendered = lines.map(([name, amount]) => `${padEnd(name, names)}  ${padStart(amount, amounts)}`);
  const counted = `${count} ${plural(count, 'entry', 'entries')}`;
  return [`Expenses of ${month}`, rule, ...rendered.slice(0, -1), rule, rendered.at(-1), counted].join('\n');
}
