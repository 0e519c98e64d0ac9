import { convert } from '../money/convert.js';

/** Each sum, and all together, in the currency of the report. */
export function totalsOf(sums, currency, rates) {
  const rows = sums.map(({ category, cents }) => ({ category, cents: convert(cents, currency, rates) }));
  return { rows, cents: rows.reduce((sum, row) => sum + row.cents, 0) };
}
