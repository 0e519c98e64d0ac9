/** The suite: a session that is deleted, and what its tombstone leaves. */

import { describe, expect, it } from 'vitest';
import type { Commit } from '../port.ts';
import { append, local, sampleBlob, sampleCommit, sampleSummary } from '../sample.ts';
import { a, b, bytes, codeOf, epochOf, seqs, type Trial } from './trial.ts';

const batch = {
  ...{ after: 0, upTo: 3, passages: bytes(4) },
  words: new Map([['rent', bytes(5)]]),
};

export function erasingSuite(trial: Trial): void {
  describe('erasing', () => {
    const blob = sampleBlob(bytes(2_000));
    const gone = sampleSummary({ phase: 'deleted' });
    const erasing = (head: number, over: Partial<Commit> = {}) =>
      sampleCommit(a, head, { erases: true, summary: gone, ...over });

    async function filled(): Promise<void> {
      for (const id of [a, b]) {
        await trial.store.commit(
          sampleCommit(id, 0, { count: 3, blobs: [blob], startKey: id === a ? 'k' : null }),
        );
        await trial.store.index(id, batch);
      }
    }

    it('S10 leaves the tombstone alone, numbered on, and of another session everything', async () => {
      await filled();
      const before = [await trial.store.row(b), await trial.store.read(b, 0, 10)];
      expect(await trial.store.commit(erasing(3))).toEqual({ status: 'committed' });
      for (const after of [0, 1, 2, 3]) expect(seqs(await trial.store.read(a, after, 10))).toEqual([4]);
      expect(seqs(await trial.store.read(a, 0, 1))).toEqual([4]);
      for (const after of [4, 5]) expect(await trial.store.read(a, after, 10)).toEqual([]);
      expect(await codeOf(trial.store.blob(a, blob.ref))).toBe('blob.missing');
      expect(await trial.store.search(a, ['rent'])).toEqual([]);
      expect(await trial.store.row(a)).toMatchObject({ head: 4, phase: 'deleted' });
      expect([await trial.store.row(b), await trial.store.read(b, 0, 10)]).toEqual(before);
      expect(await trial.store.blob(b, blob.ref)).toEqual(blob.bytes);
      expect(await trial.store.search(b, ['rent'])).toHaveLength(1);
    });

    it('S2 S10 a refused one takes nothing with it', async () => {
      await filled();
      expect(await trial.store.commit(erasing(2))).toEqual({ status: 'conflict', head: 3 });
      expect(await trial.store.commit(erasing(3, { epoch: 7 }))).toEqual({ status: 'fenced', epoch: 0 });
      expect(seqs(await trial.store.read(a, 0, 10))).toEqual([1, 2, 3]);
      expect(await trial.store.blob(a, blob.ref)).toEqual(blob.bytes);
      expect(await trial.store.search(a, ['rent'])).toHaveLength(1);
    });

    it('S10 is one event behind others, and nothing beside it', async () => {
      await filled();
      await expect(trial.store.commit(erasing(3, { blobs: [blob] }))).rejects.toThrow('erases');
      await expect(trial.store.commit({ ...erasing(0), head: 0 })).rejects.toThrow('erases');
      const two = { ...sampleCommit(a, 3, { count: 2 }), erases: true as const };
      await expect(trial.store.commit(two)).rejects.toThrow('erases');
      expect(seqs(await trial.store.read(a, 0, 10))).toEqual([1, 2, 3]);
    });

    it('S10 blobs and words that come for it afterwards are not kept, and its start key still finds it', async () => {
      await filled();
      await trial.store.commit(erasing(3));
      await trial.store.put(a, [blob]);
      expect(await codeOf(trial.store.blob(a, blob.ref))).toBe('blob.missing');
      expect(await trial.store.index(a, batch)).toBe(false);
      expect(await trial.store.search(a, ['rent'])).toEqual([]);
      expect(await trial.store.findStart(local, 'k')).toBe(a);
      expect(await trial.store.commit(sampleCommit(a, 0, { startKey: 'k' }))).toEqual({
        status: 'exists',
        session: a,
      });
    });

    it('S2 S4 S10 heads and epochs go on from where they were', async () => {
      await filled();
      const epoch = epochOf(await trial.store.acquire(a, 'w1', 1_000));
      expect(await trial.store.commit(erasing(3, { epoch }))).toEqual({ status: 'committed' });
      expect(await trial.store.commit(sampleCommit(a, 3))).toEqual({ status: 'conflict', head: 4 });
      await trial.store.release(a, epoch);
      expect(await trial.store.acquire(a, 'w2', 1_000)).toMatchObject({ epoch: epoch + 1, clean: true });
      await append(trial.store, a, 2);
      expect(seqs(await trial.store.read(a, 0, 10))).toEqual([4, 5, 6]);
      expect(seqs(await trial.store.read(a, 0, 2))).toEqual([4, 5]);
      expect(seqs(await trial.store.read(a, 4, 10))).toEqual([5, 6]);
      expect(await trial.store.commit(sampleCommit(a, 6, { erases: true }))).toEqual({ status: 'committed' });
      expect(seqs(await trial.store.read(a, 0, 10))).toEqual([7]);
    });

    it('S1 S10 stands after a restart', async ({ skip }) => {
      await filled();
      await trial.store.commit(erasing(3));
      const before = [await trial.store.row(a), await trial.store.read(a, 0, 10)];
      await trial.reopen(skip);
      expect([await trial.store.row(a), await trial.store.read(a, 0, 10)]).toEqual(before);
      expect(await codeOf(trial.store.blob(a, blob.ref))).toBe('blob.missing');
    });
  });
}
