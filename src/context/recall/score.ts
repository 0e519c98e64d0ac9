/**
 * How well each passage of a session answers a question: BM25 over the index, and what makes the difference between a
 * passage that has the words and one that has the answer.
 *
 * K1  Pure: the same index and question give the same scores, in any process.
 * K2  A passage gains from its neighbours: an answer stands beside its question and seldom repeats it. What is said aloud
 *     has those before and after it in the conversation for neighbours too, whatever work lies between.
 * K3  What a person said weighs more than what was printed; exact values weigh more than words.
 * K4  Newer wins a tie, and no more: the older passage may be the one that is meant.
 *
 * BM25 is Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the `+ 1` of Lucene in the idf.
 */

import { asked, type Word } from '../../lib/words.ts';
import type { PassageKind } from '../../projections/recall/passages.ts';
import { type Batch, type Entry, readBatch, readPostings } from '../../projections/recall/word-index.ts';
import { daysIn, withoutDays } from './dates.ts';

export interface Question {
  readonly words: string;
  readonly kind?: PassageKind | undefined;
  /** Instants, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface Candidate {
  readonly entry: Entry;
  readonly score: number;
}

export interface Candidates {
  /** Best first. */
  readonly best: readonly Candidate[];
  /** Rules and preferences, best first, and the newer of two that are as good. */
  readonly standing: readonly Candidate[];
}

const SATURATION = 1.2;
const BY_LENGTH = 0.6;
const EXACT = 2;
const NEXT = 0.5;
const AFTER_NEXT = 0.3;
const STANDING = 1.3;
const NEWEST = 0.05;

const WEIGHT: Readonly<Record<PassageKind, number>> = {
  message: 1.5,
  decision: 1.4,
  response: 1,
  reply: 0.9,
  result: 1,
  output: 1,
  call: 0.8,
  note: 0.8,
  progress: 0.6,
};

/** The words under which an index has to be asked for this question. */
export const wordsFor = (question: Question): readonly string[] => telling(question).map(({ text }) => text);

const telling = ({ words }: Question): readonly Word[] => asked(withoutDays(words));

/** `most` of each. Throws nothing: an unreadable batch has no passages (`readBatch`). */
export function candidates(batches: readonly Batch[], question: Question, most: number): Candidates {
  const bases: number[] = [];
  const entries = batches.flatMap((batch, at) => {
    const own = readBatch(batch) ?? [];
    bases[at + 1] = (bases[at] ?? 0) + own.length;
    return own;
  });
  const own = wordScores(batches, bases, entries, question);
  const talk = conversation(entries);
  const scored = (entry: Entry, place: number): Candidate => {
    const near = (own[place - 1] ?? 0) + (own[place + 1] ?? 0);
    const far = (own[place - 2] ?? 0) + (own[place + 2] ?? 0);
    const { before = -1, after = -1 } = talk.get(place) ?? {};
    const said = (place - before > 2 ? (own[before] ?? 0) : 0) + (after - place > 2 ? (own[after] ?? 0) : 0);
    const sum = (own[place] ?? 0) + NEXT * (near + said) + AFTER_NEXT * far;
    const favour = WEIGHT[entry.kind] * (entry.standing === null ? 1 : STANDING);
    return { entry, score: sum * favour * (1 + (NEWEST * (place + 1)) / entries.length) };
  };
  const best: Candidate[] = [];
  const standing: Candidate[] = [];
  for (const [place, entry] of entries.entries()) {
    if (!isAmong(entry, question)) continue;
    const candidate = scored(entry, place);
    if (candidate.score > 0) best.push(candidate);
    if (entry.standing !== null) standing.push(candidate);
  }
  return { best: best.sort(byScore).slice(0, most), standing: standing.sort(byScore).slice(0, most) };
}

/** For each place in the conversation those before and after it. */
function conversation(
  entries: readonly Entry[],
): ReadonlyMap<number, { readonly before: number | undefined; readonly after: number | undefined }> {
  const places = entries.flatMap(({ kind }, place) => (ALOUD.has(kind) ? [place] : []));
  return new Map(places.map((place, at) => [place, { before: places[at - 1], after: places[at + 1] }]));
}

const ALOUD: ReadonlySet<PassageKind> = new Set(['message', 'response', 'decision']);

function wordScores(
  batches: readonly Batch[],
  bases: readonly number[],
  entries: readonly Entry[],
  question: Question,
): Float64Array {
  const scores = new Float64Array(entries.length);
  const average = entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, entries.length);
  const add = (weight: number, found: readonly (readonly [place: number, times: number])[]): void => {
    const rare = weight * Math.log(1 + (entries.length - found.length + 0.5) / (found.length + 0.5));
    for (const [place, times] of found) {
      const long = 1 - BY_LENGTH + (BY_LENGTH * (entries[place]?.length ?? 0)) / average;
      if (place < scores.length)
        scores[place] =
          (scores[place] ?? 0) + (rare * times * (SATURATION + 1)) / (times + SATURATION * long);
    }
  };
  for (const { text, isExact } of telling(question)) {
    const found = batches.flatMap((batch, at) => {
      const bytes = batch.words.get(text);
      const base = bases[at] ?? 0;
      return bytes ? readPostings(bytes).map(({ place, times }) => [base + place, times] as const) : [];
    });
    add(isExact ? EXACT : 1, found);
  }
  // A day that is named is a word of everything that was said on it.
  for (const { from, to } of daysIn(question.words)) {
    const found = entries.flatMap(({ at }, place) => (at >= from && at <= to ? [[place, 1] as const] : []));
    if (found.length > 0) add(EXACT, found);
  }
  return scores;
}

export const isAmong = (
  { kind, at }: Pick<Entry, 'kind' | 'at'>,
  question: Omit<Question, 'words'>,
): boolean =>
  (question.kind === undefined || kind === question.kind) &&
  at >= (question.from ?? Number.NEGATIVE_INFINITY) &&
  at <= (question.to ?? Number.POSITIVE_INFINITY);

const byScore = (a: Candidate, b: Candidate): number =>
  b.score - a.score || b.entry.seq - a.entry.seq || b.entry.part - a.entry.part;
