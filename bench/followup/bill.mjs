// Owns: what requests cost: tokens, and dollars at the published prices of a model, from the snapshot that is shipped.
//
// B1. The requests are those that the runtime built. A token is four characters: no tokenizer is asked.
// B2. What a provider has cached is the longest beginning that any request before began with, too; what stands before the
//     present is written to the cache, and the present is plain. Rules and tools are the same in all sessions, so a new
//     task finds them there as well.
// B3. `usd`: all that comes within the cache's lifetime. `coldUsd`: the cache has forgotten all that came before this
//     follow-up; what its own calls share is cached still.

import { calcPrice } from '@pydantic/genai-prices';
import { SNAPSHOT } from '../../dist/models/prices.js';

const PROVIDER = 'anthropic';
const MODEL = 'claude-sonnet-4-5';
const CHARS_A_TOKEN = 4;

export const PRICED = { model: `${PROVIDER}/${MODEL}`, prices: SNAPSHOT, charsPerToken: CHARS_A_TOKEN };

export const partsOf = ({ system, tools, messages }) => [
  JSON.stringify([system, tools]),
  ...messages.map((message) => JSON.stringify(message)),
];

export const usageOf = ({ parts, output }) => ({
  inputTokens: tokensOf(parts),
  outputTokens: Math.ceil(output / CHARS_A_TOKEN),
  cachedTokens: 0,
});

/** Of these calls; `before` is what was asked earlier. */
export function bill(calls, before) {
  const warm = charged(calls, before);
  const sum = (what) => warm.reduce((all, one) => all + one[what], 0);
  return {
    modelCalls: calls.length,
    compactions: calls.filter(({ isCompaction }) => isCompaction).length,
    tokens: sum('input') + sum('output'),
    ...{ tokensIn: sum('input'), tokensCached: sum('cached'), tokensOut: sum('output') },
    usd: sum('usd'),
    coldUsd: charged(calls, []).reduce((all, { usd }) => all + usd, 0),
  };
}

/** B2. */
function charged(calls, before) {
  const known = before.map(beginning);
  return calls.map((call) => {
    const { parts, stable } = call;
    const shared = Math.max(0, ...known.map((one) => sharedBy(one, parts)));
    known.push(beginning(call));
    const cached = tokensOf(parts.slice(0, shared));
    const written = tokensOf(parts.slice(shared, Math.max(shared, stable)));
    const { inputTokens: input, outputTokens: output } = usageOf(call);
    return { input, output, cached, usd: usdOf({ input, output, cached, written }) };
  });
}

function usdOf({ input, output, cached, written }) {
  const usage = {
    input_tokens: Math.max(input, cached + written),
    output_tokens: output,
    cache_read_tokens: cached,
    cache_write_tokens: written,
  };
  return calcPrice(usage, MODEL, { providerId: PROVIDER }).total_price;
}

const beginning = ({ parts, stable }) => parts.slice(0, stable);

function sharedBy(a, b) {
  let at = 0;
  while (at < a.length && at < b.length && a[at].hash === b[at].hash) at++;
  return at;
}

const tokensOf = (parts) =>
  Math.ceil(parts.reduce((sum, part) => sum + (part.chars ?? part.length), 0) / CHARS_A_TOKEN);
