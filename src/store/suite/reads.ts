/** The suite: what comes back out: events, blobs, lists. */

import { describe, expect, it } from 'vitest';
import type { Owner, SessionId } from '../../core/ids.ts';
import { blobRef } from '../check.ts';
import type { Store, StoredEvent } from '../port.ts';
import { append, local, sampleBlob, sampleCommit, sampleEvent, sampleId, sampleSummary } from '../sample.ts';
import { a, b, bytes, codeOf, range, seqs, type Trial } from './trial.ts';

export function readSuite(trial: Trial): void {
  describe('read', () => {
    it('S5 gives back unknown kinds and odd text byte for byte', async () => {
      const texts = [
        '',
        '\0',
        'a\u2028b\u2029',
        '😀\ud83d',
        '\udc00',
        'é e\u0301 \ufeff',
        '"\\/',
        '\u202e',
        '\uffff',
      ];
      const odd: StoredEvent[] = [
        {
          seq: 1,
          at: 0,
          kind: 'tomorrow.invented',
          version: 99,
          body: '{ "spaced" :  1.0e2, "a":1,"a":2 }',
        },
        { seq: 2, at: -5, kind: 'ключ.änderung', version: 1, body: JSON.stringify(texts) },
        { seq: 3, at: 2 ** 52, kind: 'x', version: 2, body: '"é😀\u2028\ufffe\ufeff\u0001"' },
        { seq: 4, at: 1, kind: 'x', version: 2, body: '' },
      ];
      await trial.store.commit({ ...sampleCommit(a, 0), events: odd });
      expect(await trial.store.read(a, 0, 10)).toEqual(odd);
    });

    it('S5 refuses text that it could not give back', async () => {
      for (const body of ['"\ud800"', '"\0"']) {
        const commit = { ...sampleCommit(a, 0), events: [{ ...sampleEvent(1), body }] };
        await expect(trial.store.commit(commit)).rejects.toThrow('well-formed');
      }
    });

    it('S5 gives back bodies and blobs of a megabyte', async () => {
      const big = sampleEvent(1, 'é'.repeat(2 ** 20));
      const blob = sampleBlob(bytes(2 ** 20));
      await trial.store.commit({ ...sampleCommit(a, 0), events: [big], blobs: [blob] });
      const [found] = await trial.store.read(a, 0, 1);
      expect(found?.body === big.body).toBe(true);
      expect(Buffer.compare(await trial.store.blob(a, blob.ref), blob.bytes)).toBe(0);
    });

    it('pages by sequence number; an unknown session and the time after the head are empty', async () => {
      await append(trial.store, a, 5);
      expect(seqs(await trial.store.read(a, 0, 2))).toEqual([1, 2]);
      expect(seqs(await trial.store.read(a, 2, 2))).toEqual([3, 4]);
      expect(seqs(await trial.store.read(a, 4, 2))).toEqual([5]);
      expect(await trial.store.read(a, 5, 2)).toEqual([]);
      expect(await trial.store.read(a, 9, 2)).toEqual([]);
      expect(await trial.store.read(b, 0, 2)).toEqual([]);
      expect(await trial.store.row(b)).toBeNull();
    });
  });

  describe('blobs', () => {
    it('S1 stand and fall with their commit', async () => {
      const blob = sampleBlob(bytes(100));
      await trial.store.commit(sampleCommit(a, 0, { blobs: [blob, sampleBlob(new Uint8Array(0))] }));
      const found = await trial.store.blob(a, blob.ref);
      expect(found.constructor).toBe(Uint8Array);
      expect(found).toEqual(blob.bytes);
      expect(await trial.store.blob(a, blobRef(new Uint8Array(0)))).toEqual(new Uint8Array(0));
    });

    it('may be committed again, and are part of a larger buffer without taking the rest along', async () => {
      const blob = sampleBlob(bytes(100).subarray(10, 20));
      await trial.store.commit(sampleCommit(a, 0, { blobs: [blob] }));
      await trial.store.commit(sampleCommit(a, 1, { blobs: [blob] }));
      expect(await trial.store.blob(a, blob.ref)).toEqual(blob.bytes);
    });

    it('S6 belong to one session', async () => {
      const blob = sampleBlob(bytes(100));
      await trial.store.commit(sampleCommit(a, 0, { blobs: [blob] }));
      await append(trial.store, b);
      expect(await codeOf(trial.store.blob(b, blob.ref))).toBe('blob.missing');
    });

    it('are refused when they do not hash to their name', async () => {
      const forged = { ref: blobRef(bytes(1)), bytes: bytes(2) };
      expect(await codeOf(trial.store.commit(sampleCommit(a, 0, { blobs: [forged] })))).toBe('blob.forged');
      expect(await trial.store.row(a)).toBeNull();
    });
  });

  describe('lists', () => {
    it('rows newest first, page by page, by owner and by phase', async () => {
      const eve = 'eve' as Owner;
      for (const n of range(6)) {
        const over = {
          startedAt: 1000 + (n % 4),
          owner: n === 5 ? eve : local,
          phase: n < 3 ? 'working' : 'paused',
        };
        await trial.store.commit(sampleCommit(sampleId(n), 0, { summary: sampleSummary(over) }));
      }
      const list = async (query: Omit<Parameters<Store['list']>[0], 'limit'>, limit = 10) =>
        (await trial.store.list({ ...query, limit })).map((row) => row.id);
      const newest = [3, 2, 5, 1, 4, 0].map(sampleId);
      expect(await list({})).toEqual(newest);
      expect(await list({}, 2)).toEqual(newest.slice(0, 2));
      expect(await list({ after: newest[1] as SessionId }, 2)).toEqual(newest.slice(2, 4));
      expect(await list({ after: newest[5] as SessionId })).toEqual([]);
      expect(await list({ after: sampleId(99) })).toEqual([]);
      expect(await list({ owner: eve })).toEqual([sampleId(5)]);
      expect(await list({ owner: local, phase: 'working' })).toEqual([2, 1, 0].map(sampleId));
      expect(await list({ phase: 'paused', after: sampleId(5) })).toEqual([sampleId(4)]);
    });

    it('only rows in which something awaits a person, also those of a version that counted decisions alone', async () => {
      const eve = 'eve' as Owner;
      const rows = [
        { awaiting: 1 },
        { awaiting: 0 },
        { openDecisions: 2 },
        { openDecisions: 2, awaiting: 0 },
        { awaiting: 3, owner: eve },
      ];
      for (const [n, over] of rows.entries())
        await trial.store.commit(
          sampleCommit(sampleId(n), 0, { summary: sampleSummary({ startedAt: 1000 + n, ...over }) }),
        );
      const list = async (query: Omit<Parameters<Store['list']>[0], 'limit'>, limit = 10) =>
        (await trial.store.list({ ...query, limit })).map((row) => row.id);
      expect(await list({ awaiting: true })).toEqual([4, 2, 0].map(sampleId));
      expect(await list({ awaiting: true, owner: local })).toEqual([2, 0].map(sampleId));
      expect(await list({ awaiting: true, owner: local, after: sampleId(2) }, 1)).toEqual([sampleId(0)]);
      await trial.store.commit(sampleCommit(sampleId(0), 1, { summary: sampleSummary({ awaiting: 0 }) }));
      expect(await list({ awaiting: true, owner: local })).toEqual([sampleId(2)]);
    });

    it('rows as the last commit described them', async () => {
      await append(trial.store, a);
      const summary = sampleSummary({
        phase: 'awaiting_input',
        title: 'odd \0 \ud800 title',
        persist: false,
        dueAt: 12.5,
        updatedAt: 5000,
        lastResponse: 'é😀',
        openDecisions: 2,
        unknownEffects: 1,
        turn: 3,
      });
      await trial.store.commit(sampleCommit(a, 1, { summary }));
      const row = { ...summary, id: a, head: 2, epoch: 0 };
      expect(await trial.store.row(a)).toEqual(row);
      expect(await trial.store.list({ limit: 1 })).toEqual([row]);
    });

    it('what is due, the longest overdue first, and when the next will be', async () => {
      expect(await trial.store.nextDue()).toBeNull();
      for (const [n, dueAt] of [300, null, 0, 200].entries()) {
        await trial.store.commit(sampleCommit(sampleId(n), 0, { summary: sampleSummary({ dueAt }) }));
      }
      expect(await trial.store.due(200, 10)).toEqual([sampleId(2), sampleId(3)]);
      expect(await trial.store.due(999, 1)).toEqual([sampleId(2)]);
      expect(await trial.store.nextDue()).toBe(0);
      await trial.store.commit(sampleCommit(sampleId(2), 1));
      expect(await trial.store.due(200, 10)).toEqual([sampleId(3)]);
      expect(await trial.store.nextDue()).toBe(200);
    });
  });
}
