/** What one euro is in another currency. */
export function rateOf(currency, rates) {
  const rate = rates[currency];
  if (rate === undefined) throw new Error(`there is no rate for ${currency}`);
  return rate;
}
