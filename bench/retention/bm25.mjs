// Owns: what plain BM25 finds, to measure against: the same passages, words as runs of letters and digits, k1 1.2 and b 0.75,
// the best first until the budget is full. No neighbours, no kinds, no exact values, and nothing for citations.

import { passagesOf } from '../../dist/projections/recall/passages.js';

const K1 = 1.2;
const B = 0.75;
const TOKENS = 4_000;
const CHARS_A_TOKEN = 4;

export function plainBm25(events) {
  const passages = events.flatMap((event) => passagesOf(event, () => false));
  const postings = new Map();
  const lengths = passages.map(({ text }, place) => {
    const words = wordsOf(text);
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      if (!postings.has(word)) postings.set(word, []);
      postings.get(word).push([place, count]);
    }
    return words.length;
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;

  /** Places in the log of what is found within the budget. */
  return (question) => {
    const scores = new Map();
    for (const word of new Set(wordsOf(question))) {
      const found = postings.get(word) ?? [];
      const idf = Math.log(1 + (passages.length - found.length + 0.5) / (found.length + 0.5));
      for (const [place, count] of found) {
        const gain = (idf * count * (K1 + 1)) / (count + K1 * (1 - B + (B * lengths[place]) / average));
        scores.set(place, (scores.get(place) ?? 0) + gain);
      }
    }
    const best = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const seqs = new Set();
    let left = TOKENS;
    for (const [place] of best) {
      const { seq, text } = passages[place];
      left -= Math.ceil(text.length / CHARS_A_TOKEN);
      if (left < 0) break;
      seqs.add(seq);
    }
    return seqs;
  };
}

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
