/**
 * An index of what a log says, by word, in batches of events. A batch is a function of its events: whoever has the log
 * can make it again, so a store keeps it to save time and no more.
 *
 * X1  Batches follow each other from the first event on, without a gap; each covers the events after `after` up to `upTo`.
 * X2  What a store gets is bytes: what they mean is known here only. A batch of another format is none (`readBatch`).
 */

import { wordsOf } from '../../lib/words.ts';
import { PASSAGE_KINDS, type Passage, type PassageKind } from './passages.ts';
import { type Standing, standing } from './rules.ts';

export interface Batch {
  readonly after: number;
  readonly upTo: number;
  /** What is known of each passage but its words; never empty. */
  readonly passages: Uint8Array;
  /** By word: in which of these passages, and how often; never empty. */
  readonly words: ReadonlyMap<string, Uint8Array>;
}

/** A passage without its text. */
export interface Entry {
  readonly seq: number;
  readonly part: number;
  readonly kind: PassageKind;
  readonly standing: Standing;
  readonly at: number;
  /** Number of its words, with repeats. */
  readonly length: number;
}

/** `times` a word occurs in the passage that is number `place` of its batch, from 0. */
export interface Posting {
  readonly place: number;
  readonly times: number;
}

/** Grows with what words are, and with what passages are: then all is made anew. */
const FORMAT = 1;
const STANDINGS: readonly Standing[] = [null, 'rule', 'preference'];

export function makeBatch(after: number, upTo: number, passages: readonly Passage[]): Batch {
  const about = writer();
  const found = new Map<string, { readonly bytes: Writer; last: number }>();
  about.put(FORMAT);
  let seq = 0;
  let at = 0;
  for (const [place, passage] of passages.entries()) {
    const words = wordsOf(passage.text);
    about.put(passage.seq - seq, passage.part, PASSAGE_KINDS.indexOf(passage.kind));
    about.put(STANDINGS.indexOf(standingOf(passage)), passage.at - at, words.length);
    seq = passage.seq;
    at = passage.at;
    for (const [word, times] of counted(words)) {
      const known = found.get(word) ?? { bytes: writer(), last: 0 };
      known.bytes.put(place - known.last, times);
      known.last = place;
      found.set(word, known);
    }
  }
  const words = new Map([...found].map(([word, { bytes }]) => [word, bytes.take()]));
  return { after, upTo, passages: about.take(), words };
}

/** The passages of a batch; null when it is of another format, or none of ours at all (X2). */
export function readBatch({ passages }: Pick<Batch, 'passages'>): readonly Entry[] | null {
  const from = reader(passages);
  if (from.next() !== FORMAT) return null;
  const entries: Entry[] = [];
  let seq = 0;
  let at = 0;
  while (from.hasMore()) {
    seq += from.next();
    const part = from.next();
    const kind = PASSAGE_KINDS[from.next()];
    const stands = STANDINGS[from.next()];
    at += from.next();
    const length = from.next();
    if (kind === undefined || stands === undefined) return null;
    entries.push({ seq, part, kind, standing: stands, at, length });
  }
  return entries;
}

export function readPostings(bytes: Uint8Array): readonly Posting[] {
  const from = reader(bytes);
  const postings: Posting[] = [];
  let place = 0;
  while (from.hasMore()) {
    place += from.next();
    postings.push({ place, times: from.next() });
  }
  return postings;
}

/** Only a person makes rules: what a model or a service says is none. */
const standingOf = ({ kind, text }: Passage): Standing =>
  kind === 'message' || kind === 'decision' ? standing(text) : null;

function counted(words: readonly { readonly text: string }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of words) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

// ── whole numbers of any size, seven bits to a byte ────────────────────────────────────────────────────────

interface Writer {
  put(...numbers: readonly number[]): void;
  take(): Uint8Array;
}

function writer(): Writer {
  const bytes: number[] = [];
  return {
    put(...numbers) {
      for (const number of numbers) {
        let left = number;
        for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
        bytes.push(left);
      }
    },
    take: () => Uint8Array.from(bytes),
  };
}

function reader(bytes: Uint8Array) {
  let at = 0;
  return {
    hasMore: () => at < bytes.length,
    next(): number {
      let number = 0;
      for (let unit = 1; ; unit *= 128) {
        const byte = bytes[at++] ?? 0;
        number += (byte % 128) * unit;
        if (byte < 128) return number;
      }
    },
  };
}
