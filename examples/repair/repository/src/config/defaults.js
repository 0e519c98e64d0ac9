/** Rates of the quarter: what one euro is. */
export const DEFAULTS = {
  currency: 'EUR',
  rates: { EUR: 1, USD: 1.085, CHF: 0.9412 },
};
