// events, eventsIdentical, fetchP99Ms, searchP99Ms, firstSearchMs, findability, findabilityBm25, findabilityByKind,
// findabilityByLength: recall over made-up histories of several lengths, in the embedded store.

import { createHash } from 'node:crypto';
import { encode } from '../../dist/core/upcast.js';
import { textOf } from '../../dist/projections/recall/passages.js';
import { quantile, rounded } from '../kit/spread.mjs';
import { eventsOf, questionsOf } from './events.mjs';
import { byKind, find, mean } from './find.mjs';
import { history } from './generate.mjs';
import { session } from './session.mjs';

export const names = [
  'events',
  'eventsIdentical',
  'fetchP99Ms',
  'firstSearchMs',
  'searchP99Ms',
  'findability',
  'findabilityBm25',
  'findabilityByKind',
  'findabilityByLength',
];

const TOKENS = [100_000, 1_000_000, 10_000_000];
const QUICK = [30_000];
const WHOLE = 10_000_000;
/** Of a log; of a longer one every so-manyth event. */
const MOST_FETCHED = 20_000;

/** With `half: 'tuned'` the half that the ranking was made on; the figures are of the other. */
export async function measure({ quick = false, half = 'held', seed = 9_203, tokens }) {
  const lengths = tokens ?? (quick ? QUICK : TOKENS);
  const rows = [];
  const details = {};
  const fetches = [];
  const searches = [];
  let events = 0;
  let identical = 0;
  let firstMs = 0;
  for (const length of lengths) {
    const made = history({ seed: seed + length, half, tokens: length, perKind: quick ? 4 : 40 });
    const { events: log, places } = eventsOf(made.turns);
    const on = await session(log);
    const first = await timed(() => on.recall({ words: 'the first search of all' }));
    const fetched = await fetchAll(on, log);
    const timedOn = { recall: async (request) => keep(searches, await timed(() => on.recall(request))) };
    const found = await find(timedOn, log, questionsOf(made.asked, places));
    await on.end();
    events += fetched.fetched;
    identical += fetched.identical;
    fetches.push(...fetched.times);
    firstMs = Math.max(firstMs, first.ms);
    rows.push(...found);
    details[`${length} tokens`] = {
      ...{
        events: log.length,
        fetched: fetched.fetched,
        identical: fetched.identical,
        firstSearchMs: rounded(first.ms),
      },
      ...{ findability: mean(found, 'ours'), plainBm25: mean(found, 'plain'), byKind: byKind(found) },
    };
  }
  return {
    figures: {
      events,
      eventsIdentical: identical,
      fetchP99Ms: rounded(quantile(fetches, 0.99)),
      firstSearchMs: rounded(firstMs),
      searchP99Ms: rounded(quantile(searches, 0.99)),
      findability: mean(rows, 'ours'),
      findabilityBm25: mean(rows, 'plain'),
      findabilityByKind: byKind(rows),
      findabilityByLength: Object.fromEntries(
        Object.entries(details).map(([length, { findability, plainBm25, byKind: kinds }]) => [
          length,
          { ours: findability, plainBm25, byKind: kinds },
        ]),
      ),
    },
    details: { half, seed, ...details },
  };
}

/** By their ids, against what was committed: the text that an event says, or its body where it says nothing. */
async function fetchAll(on, log) {
  const times = [];
  let identical = 0;
  const apart = Math.ceil(log.length / MOST_FETCHED);
  for (const event of log.filter(({ seq }) => seq % apart === 0)) {
    const { result, ms } = await timed(() => on.recall({ id: `#${event.seq}` }, WHOLE));
    times.push(ms);
    if (hashOf(result.passages[0].text) === hashOf(textOf(event) || encode(event).body)) identical++;
  }
  return { times, identical, fetched: times.length };
}

const hashOf = (text) => createHash('sha256').update(text).digest('hex');

async function timed(work) {
  const startedAt = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedAt };
}

function keep(times, { result, ms }) {
  times.push(ms);
  return result;
}
