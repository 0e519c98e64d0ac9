/**
 * What a model takes for a token, in prices of plain input: all that a compaction has to know of prices. Part of the
 * contract, so that whoever folds the log compacts at the same place, whatever prices are by then.
 */
export interface Rates {
  /** Of input that the provider had cached. */
  readonly cached: number;
  readonly out: number;
}

/** Where no price is known: nearly the same everywhere. */
export const USUAL_RATES: Rates = { cached: 0.1, out: 5 };
