import { keyOf } from '../cache/key.js';
import { contains, monthPeriod } from '../dates/period.js';
import { byCategory } from './group.js';
import { totalsOf } from './totals.js';

/** The report of a month: how many entries, the sum of each category, and the total. */
export function makeReport({ file, entries, month, currency, rates }, cache) {
  return cache.get(keyOf({ file, month, currency }), () => {
    const period = monthPeriod(month);
    const meant = entries.filter(({ day }) => contains(period, day));
    const totals = totalsOf(byCategory(meant), currency, rates);
    return { month, currency, count: meant.length, totals };
  });
}
