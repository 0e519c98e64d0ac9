/** The suite: what a commit does, and what a start key finds. */

import { describe, expect, it } from 'vitest';
import type { Owner, SessionId } from '../../core/ids.ts';
import { blobRef } from '../check.ts';
import type { Commit } from '../port.ts';
import { append, local, sampleBlob, sampleCommit, sampleEvent, sampleId, sampleSummary } from '../sample.ts';
import { a, b, bytes, codeOf, range, seqs, type Trial } from './trial.ts';

export function commitSuite(trial: Trial): void {
  describe('commit', () => {
    it('S3 numbers a session 1, 2, 3 …, whatever the size of its commits', async () => {
      expect(await trial.store.commit(sampleCommit(a, 0, { count: 2 }))).toEqual({ status: 'committed' });
      expect(await trial.store.commit(sampleCommit(a, 2, { count: 3 }))).toEqual({ status: 'committed' });
      expect(seqs(await trial.store.read(a, 0, 100))).toEqual([1, 2, 3, 4, 5]);
      expect(await trial.store.row(a)).toMatchObject({ id: a, head: 5, epoch: 0, phase: 'working' });
    });

    it('S3 refuses events that do not go on from the head', async () => {
      const gap = { ...sampleCommit(a, 0), events: [sampleEvent(2)] };
      const none = { ...sampleCommit(a, 0), events: [] };
      await expect(trial.store.commit(gap)).rejects.toThrow('number 1');
      await expect(trial.store.commit(none)).rejects.toThrow('at least one event');
      expect(await trial.store.row(a)).toBeNull();
    });

    it('S2 succeeds only on the head that it names', async () => {
      await append(trial.store, a, 2);
      expect(await trial.store.commit(sampleCommit(a, 1))).toEqual({ status: 'conflict', head: 2 });
      expect(await trial.store.commit(sampleCommit(a, 0))).toEqual({ status: 'conflict', head: 2 });
      expect(await trial.store.commit(sampleCommit(a, 7))).toEqual({ status: 'conflict', head: 2 });
      expect(await trial.store.commit(sampleCommit(b, 3))).toEqual({ status: 'conflict', head: 0 });
      expect(seqs(await trial.store.read(a, 0, 100))).toEqual([1, 2]);
      expect(await trial.store.row(b)).toBeNull();
    });

    it('S1 a refused commit leaves nothing: no event, no blob, no index row', async () => {
      const blob = sampleBlob(bytes(10));
      await append(trial.store, a, 2);
      const late = sampleCommit(a, 1, { blobs: [blob], summary: sampleSummary({ phase: 'paused' }) });
      expect(await trial.store.commit(late)).toEqual({ status: 'conflict', head: 2 });
      expect(await trial.store.row(a)).toMatchObject({ head: 2, phase: 'working' });
      expect(await codeOf(trial.store.blob(a, blob.ref))).toBe('blob.missing');
    });

    it('S1 blobs can be put ahead of the commit that names them, before there is a session', async () => {
      const blob = sampleBlob(bytes(10));
      await trial.store.put(a, [blob]);
      expect(await trial.store.row(a)).toBeNull();
      await append(trial.store, a);
      expect(await trial.store.blob(a, blob.ref)).toEqual(blob.bytes);
      expect(await codeOf(trial.store.blob(b, blob.ref))).toBe('blob.missing');
      const forged = { ...blob, ref: sampleBlob(bytes(11)).ref };
      expect(await codeOf(trial.store.put(a, [forged]))).toBe('blob.forged');
    });

    it('S2 B042 of commits that race for one head exactly one wins, and the others know the new head', async () => {
      await append(trial.store, a);
      const results = await Promise.all(range(8).map(() => trial.store.commit(sampleCommit(a, 1))));
      expect(results.filter((result) => result.status === 'committed')).toHaveLength(1);
      expect(results.filter((result) => result.status === 'conflict' && result.head === 2)).toHaveLength(7);
      expect(seqs(await trial.store.read(a, 0, 100))).toEqual([1, 2]);
    });

    it('S3 200 commits side by side over 50 sessions leave no gap and no repeat', async () => {
      const ids = range(50).map(sampleId);
      const results = await Promise.all(range(200).map((n) => append(trial.store, ids[n % 50] as SessionId)));
      expect(results.every((result) => result.status === 'committed')).toBe(true);
      for (const id of ids) expect(seqs(await trial.store.read(id, 0, 100))).toEqual([1, 2, 3, 4]);
    });

    it('S1 one that throws takes nothing of its neighbours with it', async () => {
      const forged = { ref: blobRef(bytes(1)), bytes: bytes(2) };
      const results = await Promise.allSettled([
        trial.store.commit(sampleCommit(a, 0)),
        trial.store.commit(sampleCommit(b, 0, { blobs: [forged] })),
        trial.store.commit(sampleCommit(sampleId(3), 0)),
      ]);
      expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await trial.store.row(a)).not.toBeNull();
      expect(await trial.store.row(b)).toBeNull();
    });

    it('refuses to move a session to another owner', async () => {
      await append(trial.store, a);
      const moved = sampleCommit(a, 1, { summary: sampleSummary({ owner: 'eve' as Owner }) });
      await expect(trial.store.commit(moved)).rejects.toThrow('keeps its owner');
    });

    it('B141 refuses every id that is not exactly a session id', async () => {
      const ids = [
        '../x',
        'a/b',
        'x'.repeat(300),
        'ses_\0aaaaaaaaaaaaaaaaaa',
        'ses_ａaaaaaaaaaaaaaaaaa',
        'ses_../../../../etc/pw',
        '',
      ];
      for (const id of ids as SessionId[]) {
        expect(await codeOf(trial.store.commit(sampleCommit(id, 0)))).toBe('session.unknown');
        expect(await codeOf(trial.store.acquire(id, 'w', 1))).toBe('session.unknown');
        expect(await trial.store.row(id)).toBeNull();
        expect(await trial.store.read(id, 0, 10)).toEqual([]);
      }
      expect(await trial.store.list({ limit: 10 })).toEqual([]);
    });
  });

  describe('start key', () => {
    const start = (session: SessionId, over: Partial<Commit> = {}) =>
      trial.store.commit(sampleCommit(session, 0, { startKey: 'k', ...over }));

    it('finds the session that a repeated start made, and only for its owner', async () => {
      expect(await start(a)).toEqual({ status: 'committed' });
      expect(await start(b)).toEqual({ status: 'exists', session: a });
      expect(await start(a)).toEqual({ status: 'exists', session: a });
      expect(await trial.store.row(b)).toBeNull();
      expect(await trial.store.findStart(local, 'k')).toBe(a);
      expect(await trial.store.findStart('eve' as Owner, 'k')).toBeNull();
      expect(await start(b, { summary: sampleSummary({ owner: 'eve' as Owner }) })).toEqual({
        status: 'committed',
      });
    });

    it('lets one of many win', async () => {
      const results = await Promise.all(range(5).map((n) => start(sampleId(n))));
      expect(results.map((result) => result.status).sort()).toEqual([
        'committed',
        ...range(4).map(() => 'exists'),
      ]);
    });

    it('tells keys apart by every character', async () => {
      const keys = ['k\0a', 'k\0b', 'k', 'k ', 'K', '\ud800', '\ufffd', 'é', 'e\u0301'];
      for (const [n, startKey] of keys.entries()) {
        expect(await start(sampleId(n), { startKey })).toEqual({ status: 'committed' });
      }
      for (const [n, key] of keys.entries())
        expect(await trial.store.findStart(local, key)).toBe(sampleId(n));
    });
  });
}
