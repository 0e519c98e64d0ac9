// Owns: findability: of the evidence of a question, the share that stands in what is recalled for its text, within 4,000
// tokens. No model, and no score of answers.

import { rounded } from '../kit/spread.mjs';
import { plainBm25 } from './bm25.mjs';

/** `{ ours, plain }` by kind and over all, of one log. */
export async function find(log, events, questions) {
  const plain = plainBm25(events);
  const rows = [];
  for (const { kind, words, evidence } of questions) {
    const { passages } = await log.recall({ words });
    const seqs = new Set(passages.map(({ seq }) => seq));
    rows.push({ kind, ours: share(evidence, seqs), plain: share(evidence, plain(words)) });
  }
  return rows;
}

const share = (evidence, found) => evidence.filter((seq) => found.has(seq)).length / evidence.length;

/** The mean of `which` over all rows; null when there are none. */
export const mean = (rows, which) =>
  rows.length === 0 ? null : rounded(rows.reduce((sum, row) => sum + row[which], 0) / rows.length);

/** By kind: how many there are, and what both find. */
export function byKind(rows) {
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  return Object.fromEntries(
    kinds.map((kind) => {
      const own = rows.filter((row) => row.kind === kind);
      return [kind, { questions: own.length, ours: mean(own, 'ours'), plainBm25: mean(own, 'plain') }];
    }),
  );
}
