import { parseDay } from '../dates/days.js';
import { parseAmount } from '../money/amount.js';
import { parseCsv } from './parse.js';

const COLUMNS = ['date', 'category', 'text', 'amount'];

/** The entries of a ledger: `{ day, category, text, cents }`, in the order of the file. */
export function entriesOf(text) {
  const [header = [], ...rows] = parseCsv(withoutComments(text));
  if (header.join() !== COLUMNS.join()) throw new Error(`the first line is ${COLUMNS.join(',')}`);
  return rows.map(([date, category, what, amount], index) => {
    if (amount === undefined) throw new Error(`entry ${index + 1} has too few columns`);
    return { day: parseDay(date), category: category.trim(), text: what, cents: parseAmount(amount) };
  });
}

const withoutComments = (text) =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');
