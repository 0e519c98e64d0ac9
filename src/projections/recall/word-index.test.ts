import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordsOf } from '../../lib/words.ts';
import type { Passage, PassageKind } from './passages.ts';
import { makeBatch, readBatch, readPostings } from './word-index.ts';

const passage = (seq: number, text: string, kind: PassageKind = 'message', at = seq * 1_000): Passage => ({
  ...{ seq, part: 1, kind, at, from: 0, text },
});

test('X2: what is put in comes out: each passage, and each word with where and how often', () => {
  const word = fc.constantFrom('rent', 'invoice', 'INV-7', 'paid', 'Bern', '2031-04-05');
  const texts = fc.array(fc.array(word, { maxLength: 12 }), { maxLength: 300 });
  fc.assert(
    fc.property(texts, fc.nat(1e13), (all, start) => {
      const passages = all.map((words, at) =>
        passage(3 * at + 1, words.join(' '), 'result', start + at * 977),
      );
      const batch = makeBatch(0, 1_000, passages);
      expect(readBatch(batch)).toEqual(
        passages.map(({ seq, part, kind, at, text }) => ({
          ...{ seq, part, kind, at, standing: null, length: wordsOf(text).length },
        })),
      );
      const places = new Map<string, string[]>();
      for (const [place, { text }] of passages.entries()) {
        for (const found of new Set(wordsOf(text).map((one) => one.text))) {
          const times = wordsOf(text).filter((one) => one.text === found).length;
          places.set(found, [...(places.get(found) ?? []), `${place}x${times}`]);
        }
      }
      const read = [...batch.words].map(
        ([found, bytes]) =>
          [found, readPostings(bytes).map(({ place, times }) => `${place}x${times}`)] as const,
      );
      expect(new Map(read)).toEqual(places);
    }),
    { numRuns: 30 },
  );
});

test('a rule of a person stands out, and one of a service does not', () => {
  const rule = 'Always answer in Swiss francs.';
  const wish = 'I prefer short tables.';
  const entries = readBatch(
    makeBatch(0, 9, [passage(1, rule), passage(2, wish), passage(3, rule, 'result'), passage(4, 'Go on.')]),
  );
  expect(entries?.map(({ standing }) => standing)).toEqual(['rule', 'preference', null, null]);
});

test('X2: bytes of another format, or of nobody, are no batch', () => {
  expect(readBatch({ passages: Uint8Array.of(99, 1, 1, 0, 0, 1, 1) })).toBeNull();
  expect(readBatch({ passages: Uint8Array.of(1, 1, 1, 99, 0, 1, 1) })).toBeNull();
});
