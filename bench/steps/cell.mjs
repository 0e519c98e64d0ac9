// cellCommitMs, cellCommitBytes: a small cell in a small heap, in a thread as in production: from the moment at which its
// start is durable to the moment at which what it changed is; and what the store keeps of that.

import { median, rounded, spread } from '../kit/spread.mjs';
import { stage } from '../kit/stage.mjs';

export const names = ['cellCommitMs', 'cellCommitBytes'];

const FIRST = 'const rows = Array.from({ length: 200 }, (_, id) => ({ id, name: "row " + id })); rows.length';
const CELL = 'rows.push({ id: rows.length, name: "one more" }); rows.length';
const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export async function measure({ quick = false } = {}) {
  const count = quick ? 12 : 60;
  const on = await stage({ model: cells(count), tools: [] });
  const session = await on.start('count the rows');
  await on.outlast.rest(session);
  const starts = on.commits.filter(({ kinds }) => kinds.includes('cell.started'));
  const ends = on.commits.filter(({ kinds }) => kinds.includes('cell.committed'));
  // The first two build the heap and its base; from then on each is a cell like any other.
  const times = ends.map((end, index) => end.durableAt - starts[index].durableAt).slice(2);
  const bytes = ends.map(({ blobBytes }) => blobBytes).slice(2);
  const forms = ends.slice(2).map(({ events }) => imageOf(events).form);
  await on.end();
  return {
    figures: { cellCommitMs: rounded(median(times)), cellCommitBytes: Math.round(median(bytes)) },
    details: {
      ms: spread(times),
      bytes: spread(bytes),
      deltas: forms.filter((form) => form === 'delta').length,
      bases: forms.filter((form) => form === 'base').length,
      firstMs: rounded(ends[0].durableAt - starts[0].durableAt),
    },
  };
}

function imageOf(events) {
  return JSON.parse(events.find(({ kind }) => kind === 'cell.committed').body).image;
}

function cells(count) {
  let asked = 0;
  return {
    name: 'scripted/cells',
    scripted: true,
    async generate() {
      asked++;
      if (asked > count) return { parts: [{ type: 'text', text: 'Counted.' }], finish: 'stop', usage };
      const source = asked === 1 ? FIRST : CELL;
      return { parts: [{ type: 'tool-call', tool: 'code', input: { source } }], finish: 'tool-calls', usage };
    },
  };
}
