import { rateOf } from './rates.js';

/** Cents of a ledger in another currency, to the nearest cent. */
export function convert(cents, currency, rates) {
  return Math.trunc(cents * rateOf(currency, rates));
}
