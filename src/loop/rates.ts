/** What the contract of a session says of the prices of its model. */

import type { Rates } from '../core/budget/rates.ts';
import type { Usage } from '../core/message.ts';
import type { Ports } from './ports.ts';

/** So many that rounding does not matter, and fewer than where some providers begin to take more. */
const TOKENS = 100_000;
const NONE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

/** Undefined where no price is known, or input is free. */
export async function ratesOf({
  prices,
  model,
}: Pick<Ports, 'prices' | 'model'>): Promise<Rates | undefined> {
  const of = async (usage: Partial<Usage>): Promise<number> =>
    (await prices.price(model.name, { ...NONE, ...usage }))?.microUsd ?? 0;
  const plain = await of({ inputTokens: TOKENS });
  if (plain === 0) return undefined;
  const rate = (cost: number): number => Math.round((cost / plain) * 1_000) / 1_000;
  return {
    cached: rate(await of({ inputTokens: TOKENS, cachedTokens: TOKENS })),
    out: rate(await of({ outputTokens: TOKENS })),
  };
}
