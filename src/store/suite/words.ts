/** The suite: the index of a log's words. */

import { describe, expect, it } from 'vitest';
import type { Batch } from '../port.ts';
import { append, sampleBlob, sampleCommit, sampleId } from '../sample.ts';
import { a, b, bytes, codeOf, range, type Trial } from './trial.ts';

const batch = (after: number, upTo: number, words: Readonly<Record<string, Uint8Array>> = {}): Batch => ({
  after,
  upTo,
  passages: bytes(upTo - after),
  words: new Map(Object.entries(words)),
});

export function wordSuite(trial: Trial): void {
  describe('words', () => {
    const found = async (session = a, words = ['rent', 'é😀', 'none']) => trial.store.search(session, words);
    const spans = async (session = a) => (await found(session)).map(({ after, upTo }) => [after, upTo]);

    it('S8 gives back the batches in their order, each with what it has of the words that are asked for', async () => {
      await append(trial.store, a, 9);
      expect(await found()).toEqual([]);
      const first = batch(0, 3, { rent: bytes(5), 'é😀': bytes(2), other: bytes(1) });
      const second = batch(3, 9, { rent: bytes(300) });
      expect(await trial.store.index(a, first)).toBe(true);
      expect(await trial.store.index(a, second)).toBe(true);
      expect(await found()).toEqual([
        batch(0, 3, { rent: bytes(5), 'é😀': bytes(2) }),
        batch(3, 9, { rent: bytes(300) }),
      ]);
      expect(await trial.store.search(a, [])).toEqual([batch(0, 3), batch(3, 9)]);
    });

    it('S8 a batch takes the place of all that stand behind its beginning', async () => {
      await append(trial.store, a, 9);
      for (const at of range(3))
        await trial.store.index(a, batch(3 * at, 3 * at + 3, { rent: bytes(at + 1) }));
      expect(await trial.store.index(a, batch(3, 9, { 'é😀': bytes(7) }))).toBe(true);
      expect(await found()).toEqual([batch(0, 3, { rent: bytes(1) }), batch(3, 9, { 'é😀': bytes(7) })]);
      expect(await trial.store.index(a, batch(0, 5))).toBe(true);
      expect(await found()).toEqual([batch(0, 5)]);
    });

    it('S8 a batch that leaves a gap is not taken, and changes nothing', async () => {
      await append(trial.store, a, 9);
      expect(await trial.store.index(a, batch(2, 4))).toBe(false);
      await trial.store.index(a, batch(0, 4));
      expect(await trial.store.index(a, batch(3, 9))).toBe(false);
      expect(await trial.store.index(a, batch(5, 9))).toBe(false);
      expect(await spans()).toEqual([[0, 4]]);
    });

    it('S6 S8 belongs to one session, and to one that there is', async () => {
      await append(trial.store, a, 4);
      await append(trial.store, b, 4);
      await trial.store.index(a, batch(0, 4, { rent: bytes(3) }));
      expect(await found(b)).toEqual([]);
      await trial.store.index(b, batch(0, 2, { rent: bytes(1) }));
      expect(await spans()).toEqual([[0, 4]]);
      expect(await codeOf(trial.store.index(sampleId(3), batch(0, 1)))).toBe('session.unknown');
    });

    it('S1 S8 goes with what a commit sheds, of this session alone; with a commit that is refused, nothing does', async () => {
      const [gone, kept] = [sampleBlob(bytes(9)), sampleBlob(bytes(10))];
      for (const id of [a, b]) {
        await trial.store.commit(
          sampleCommit(id, (await trial.store.row(id))?.head ?? 0, { blobs: [gone, kept] }),
        );
        await trial.store.index(id, batch(0, 1, { rent: bytes(1) }));
      }
      const head = (await trial.store.row(a))?.head ?? 0;
      expect(await trial.store.commit(sampleCommit(a, 0, { sheds: [gone.ref] }))).toMatchObject({
        status: 'conflict',
      });
      expect(await trial.store.blob(a, gone.ref)).toEqual(gone.bytes);
      expect(await trial.store.search(a, ['rent'])).toHaveLength(1);
      await trial.store.commit(sampleCommit(a, head, { sheds: [gone.ref] }));
      expect(await codeOf(trial.store.blob(a, gone.ref))).toBe('blob.missing');
      expect(await trial.store.blob(a, kept.ref)).toEqual(kept.bytes);
      expect(await trial.store.search(a, ['rent'])).toEqual([]);
      expect(await trial.store.blob(b, gone.ref)).toEqual(gone.bytes);
      expect(await trial.store.search(b, ['rent'])).toHaveLength(1);
    });

    it('S8 stands in no one’s way: log and row are as without it, also after a restart', async ({ skip }) => {
      await append(trial.store, a, 3);
      const before = [await trial.store.row(a), await trial.store.read(a, 0, 10)];
      await trial.store.index(a, batch(0, 3, { rent: bytes(3) }));
      await trial.reopen(skip);
      expect([await trial.store.row(a), await trial.store.read(a, 0, 10)]).toEqual(before);
      expect(await found()).toEqual([batch(0, 3, { rent: bytes(3) })]);
    });
  });
}
