/**
 * What model calls cost: one's own prices first, then the snapshot in `@pydantic/genai-prices`.
 *
 * P1  What is not known is not priced: null, never zero. That holds for the stand-in that is no model, and for servers
 *     behind `compatible/`, whoever's model they say they have.
 * P2  The snapshot is data in a package of a fixed version, and no network is asked. It is loaded at the first call that
 *     needs it, since it takes a tenth of a second.
 * P3  Fractions of a micro-dollar are rounded up.
 */

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Cost } from '../core/budget/budget.ts';
import { OutlastError } from '../core/error.ts';
import type { Usage } from '../core/message.ts';
import type { Prices } from './port.ts';

/** Dollars for a million tokens, which are micro-dollars for one. */
export interface OwnPrice {
  readonly inputPerMTok: number;
  readonly outputPerMTok: number;
  /** Of input that the provider had cached; by default as other input. */
  readonly cachedPerMTok?: number | undefined;
  /** Of input that the provider wrote to its cache; by default as other input. */
  readonly cacheWritePerMTok?: number | undefined;
}

/** `provider/model` → price. */
export type OwnPrices = Readonly<Record<string, OwnPrice>>;

/** The version of the package is the date of its data: it is pinned, and stands with each cost. */
export const SNAPSHOT = 'genai-prices@0.1.8';
const OWN = 'own price';

const UNPRICED: ReadonlySet<string> = new Set(['scripted', 'compatible']);

/**
 * @example
 * ```ts
 * const prices = knownPrices({ 'compatible/llama3.3': { inputPerMTok: 0.1, outputPerMTok: 0.4 } });
 * await prices.price('compatible/llama3.3', { inputTokens: 1_000, outputTokens: 100, cachedTokens: 0 });
 * ```
 */
export function knownPrices(own: OwnPrices = {}): Prices {
  return {
    async price(model, usage) {
      const [provider = '', ...rest] = sold(model).split('/');
      const price = ownOf(own, model) ?? ownOf(own, sold(model));
      if (price) return ownCost(price, usage);
      return UNPRICED.has(provider) || rest.length === 0
        ? null
        : snapshotCost(provider, rest.join('/'), usage);
    },
  };
}

const ownOf = (own: OwnPrices, model: string): OwnPrice | undefined =>
  Object.hasOwn(own, model) ? own[model] : undefined;

/** One model costs the same over both APIs of OpenAI. */
const sold = (model: string): string => model.replace(/^openai-chat\//, 'openai/');

function ownCost(own: OwnPrice, usage: Usage): Cost {
  const { inputPerMTok, outputPerMTok, cachedPerMTok = inputPerMTok, cacheWritePerMTok = inputPerMTok } = own;
  const { plain, cached, written } = partsOf(usage);
  const input = plain * inputPerMTok + cached * cachedPerMTok + written * cacheWritePerMTok;
  return { microUsd: whole(input + usage.outputTokens * outputPerMTok), source: OWN };
}

async function snapshotCost(provider: string, model: string, usage: Usage): Promise<Cost | null> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  const { cached, written } = partsOf(usage);
  const tokens = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: cached,
    cache_write_tokens: written,
  };
  const found = calcPrice(tokens, model, { providerId: provider });
  const isPriced = found && (found.model_price.input_mtok !== undefined || found.total_price > 0);
  return isPriced ? { microUsd: whole(found.total_price * 1_000_000), source: SNAPSHOT } : null;
}

/** They never come to more than the input: the snapshot would refuse to price it. */
function partsOf({ inputTokens, cachedTokens, cacheWriteTokens = 0 }: Usage) {
  const cached = Math.min(cachedTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - cached);
  return { plain: inputTokens - cached - written, cached, written };
}

/** A sum in binary fractions may be a hair over a whole number. */
const whole = (microUsd: number): number => Math.ceil(Number(microUsd.toFixed(6)));

const price = z.number().min(0);
const FILE: z.ZodType<OwnPrices> = z.record(
  z.string().regex(/^[^/\s]+\/\S+$/, 'is called provider/model'),
  z.strictObject({
    inputPerMTok: price,
    outputPerMTok: price,
    cachedPerMTok: price.optional(),
    cacheWritePerMTok: price.optional(),
  }),
);

/** Prices of a JSON file `{ "provider/model": { "inputPerMTok": 3, "outputPerMTok": 15 } }`; none when it is not there. */
export async function pricesIn(path: string): Promise<OwnPrices> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    throw wrong(path, cause.message, cause);
  });
  return text === null ? {} : checkPrices(parse(text, path), path);
}

/** Throws `budget.invalid` with the place of what is wrong. */
export function checkPrices(prices: unknown, where: string): OwnPrices {
  const result = FILE.safeParse(prices);
  if (result.success) return result.data;
  const found = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw wrong(where, found.join('; '), result.error);
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw wrong(path, 'no JSON', cause);
  }
}

const wrong = (where: string, what: string, cause: unknown): OutlastError =>
  new OutlastError('budget.invalid', `The prices in ${where} are wrong: ${what}.`, {
    next: 'a price is { "inputPerMTok": 3, "outputPerMTok": 15 }, in dollars for a million tokens',
    cause,
  });
