// turn50Usd, turn50Tokens, turn200Usd, turn200Tokens, turn1000Usd, turn1000VsTurn50, turn1000Tokens, fullTurn1000Usd,
// bufferTurn1000Usd: what the fiftieth, the two hundredth and the thousandth turn of one session cost, by what goes over the wire.
//
// W1. The requests are those that the runtime makes, summaries included; what a provider has cached is the longest
//     beginning that the request before had, too.
// W2. The other two strategies get the same turns: the whole transcript each time; and the whole transcript until it is
//     within a buffer of the window, then a summary of everything in its place.
// W3. Prices of a model of the middle class, in dollars for a million tokens, of four characters each. A turn is the mean of
//     the forty around it, so that a compaction is shared by the turns that it was made for.

import { createOutlast, memoryStore } from '../../dist/index.js';
import { systemClock } from '../../dist/lib/clock.js';
import { rounded } from '../kit/spread.mjs';
import { history } from './generate.mjs';
import { lookIn, script, wider, worded } from './script.mjs';

export const names = [
  'turn50Usd',
  'turn50Tokens',
  'turn200Usd',
  'turn200Tokens',
  'turn1000Usd',
  'turn1000VsTurn50',
  'turn1000Tokens',
  'fullTurn1000Usd',
  'bufferTurn1000Usd',
];

const PRICE = { input: 3, cached: 0.3, written: 3.75, output: 15 };
const CHARS_A_TOKEN = 4;
const WINDOW = 200_000;
const BUFFER = 0.17;
const SUMMARY_TOKENS = 2_000;
const AROUND = 20;
const SHOWN = [50, 100, 200, 400, 600, 800, 1_000];

export async function measure({ quick = false, seed = 7_411 }) {
  const last = quick ? 100 : 1_000;
  const { turns: made } = history({
    seed: seed + 2,
    half: 'held',
    tokens: quick ? 100_000 : 600_000,
    perKind: 4,
  });
  const turns = made.slice(0, last + AROUND + 1).map(wider);
  const calls = await callsOf(turns);
  const by = {
    outlast: costs(calls, turns.length),
    full: costs(whole(calls), turns.length),
    buffer: costs(buffered(calls), turns.length),
  };
  const at = (who, turn, what = 'usd') => {
    if (turn > last) return null;
    const around = by[who].slice(turn - AROUND, turn + AROUND + 1);
    return rounded(around.reduce((sum, one) => sum + one[what], 0) / around.length);
  };
  const all = (turn, what) => Object.fromEntries(Object.keys(by).map((who) => [who, at(who, turn, what)]));
  const shown = SHOWN.filter((turn) => turn <= last);
  return {
    figures: {
      turn50Usd: at('outlast', 50),
      turn50Tokens: at('outlast', 50, 'tokens'),
      turn200Usd: at('outlast', 200),
      turn200Tokens: at('outlast', 200, 'tokens'),
      turn1000Usd: at('outlast', 1_000),
      turn1000VsTurn50: last < 1_000 ? null : rounded(at('outlast', 1_000) / at('outlast', 50)),
      turn1000Tokens: at('outlast', 1_000, 'tokens'),
      fullTurn1000Usd: at('full', 1_000),
      bufferTurn1000Usd: at('buffer', 1_000),
    },
    details: {
      ...{ seed, price: PRICE, turns: turns.length, modelCalls: calls.length },
      compactions: calls.filter(({ isCompaction }) => isCompaction).length,
      usd: Object.fromEntries(shown.map((turn) => [turn, all(turn, 'usd')])),
      tokens: Object.fromEntries(shown.map((turn) => [turn, all(turn, 'tokens')])),
    },
  };
}

/** Every request of a session that takes these turns: its parts, and what was answered. */
async function callsOf(turns) {
  const calls = [];
  let turn = 0;
  const inner = script(turns);
  const model = {
    ...inner,
    async generate(request, options) {
      const reply = await inner.generate(request, options);
      const { system, tools, messages, stable = messages.length, isCompaction = false } = request;
      const parts = [JSON.stringify([system, tools]), ...messages.map((message) => JSON.stringify(message))];
      const output = JSON.stringify(reply.parts).length;
      calls.push({ turn, parts, stable: stable + 1, output, isCompaction });
      const usage = {
        inputTokens: tokensOf(parts),
        outputTokens: Math.ceil(output / CHARS_A_TOKEN),
        cachedTokens: 0,
      };
      return { ...reply, usage };
    },
  };
  const store = memoryStore(systemClock);
  const outlast = await createOutlast({ store, model, tools: [lookIn(turns)], env: {} });
  const { session } = await outlast.start({ message: worded(turns, 0), persist: true });
  await outlast.rest(session);
  for (turn = 1; turn < turns.length; turn++) {
    await outlast.send(session, worded(turns, turn));
    await outlast.rest(session);
  }
  await outlast.close();
  return calls;
}

const tokensOf = (parts) => Math.ceil(parts.reduce((sum, part) => sum + part.length, 0) / CHARS_A_TOKEN);

/** W1. Dollars and tokens of each turn. */
function costs(calls, turns) {
  const all = Array.from({ length: turns }, () => ({ usd: 0, tokens: 0 }));
  let before = [];
  for (const { turn, parts, stable, output } of calls) {
    let shared = 0;
    while (shared < before.length && before[shared] === parts[shared]) shared++;
    const cached = tokensOf(parts.slice(0, shared));
    const written = tokensOf(parts.slice(shared, stable));
    const plain = tokensOf(parts.slice(Math.max(shared, stable)));
    const said = Math.ceil(output / CHARS_A_TOKEN);
    const cost = cached * PRICE.cached + written * PRICE.written + plain * PRICE.input + said * PRICE.output;
    all[turn].usd += cost / 1_000_000;
    all[turn].tokens += cached + written + plain + said;
    before = parts.slice(0, stable);
  }
  return all;
}

/** W2. The same requests with nothing compacted: all that was ever in one of them, in order. */
function whole(calls) {
  const transcript = [];
  const known = new Set();
  return calls.flatMap((call) => {
    if (call.isCompaction) return [];
    const [fixed, ...messages] = call.parts;
    for (const message of messages.slice(0, call.stable - 1)) {
      if (message.includes('[outlast] What came before') || known.has(message)) continue;
      known.add(message);
      transcript.push(message);
    }
    const parts = [fixed, ...transcript, ...messages.slice(call.stable - 1)];
    return [{ ...call, parts, stable: transcript.length + 1 }];
  });
}

/** W2. */
function buffered(calls) {
  let from = 0;
  let summary = [];
  return whole(calls).flatMap((call) => {
    const [fixed, ...rest] = call.parts;
    const transcript = rest.slice(0, call.stable - 1);
    const present = rest.slice(call.stable - 1);
    const view = () => [fixed, ...summary, ...transcript.slice(from)];
    const before = view();
    const made = [];
    if (tokensOf(before) > WINDOW * (1 - BUFFER)) {
      made.push({ ...call, parts: before, stable: before.length, output: SUMMARY_TOKENS * CHARS_A_TOKEN });
      from = transcript.length - 1;
      summary = [`summary ${from} `.padEnd(SUMMARY_TOKENS * CHARS_A_TOKEN, 'x')];
    }
    const now = view();
    return [...made, { ...call, parts: [...now, ...present], stable: now.length }];
  });
}
