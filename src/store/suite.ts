/**
 * The suite that proves a store: `storeSuite` in an adapter's test file, and the port's statements are its tests.
 *
 * It leaves to the adapters what only they can lose: real processes, torn files, full disks.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutlastError } from '../core/error.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import { blobRef } from './check.ts';
import type { Acquired, Commit, Store, StoredEvent } from './port.ts';
import { append, local, sampleBlob, sampleCommit, sampleEvent, sampleId, sampleSummary } from './sample.ts';

/** A store that a test may use up. */
export interface OpenStore {
  readonly store: Store;
  /** Moves the store's clock. */
  advance(ms: number): void | Promise<void>;
  /** The worker is gone without a word: the same data in a new instance that can prove its old holders dead. */
  reopen: (() => Promise<Store>) | { readonly skip: string };
  /** Frees what the test used. */
  dispose?(): Promise<void>;
}

export interface StoreSubject {
  readonly name: string;
  open(): Promise<OpenStore>;
}

/**
 * Declares the suite for one adapter.
 *
 * @example
 * ```ts
 * storeSuite({ name: 'memory', open: async () => openMemory() });
 * ```
 */
export function storeSuite(subject: StoreSubject): void {
  describe(`store: ${subject.name}`, () => {
    let opened: OpenStore;
    let store: Store;
    const a = sampleId(1);
    const b = sampleId(2);

    beforeEach(async () => {
      opened = await subject.open();
      store = opened.store;
    });
    afterEach(() => opened.dispose?.());

    async function reopen(skip: (reason: string) => void): Promise<void> {
      if ('skip' in opened.reopen) return skip(opened.reopen.skip);
      store = await opened.reopen();
    }

    /** Creates the session and takes its lease. */
    async function hold(session: SessionId, holder = 'w1', ttlMs = 1000): Promise<number> {
      await append(store, session);
      return epochOf(await store.acquire(session, holder, ttlMs));
    }

    describe('commit', () => {
      it('S3 numbers a session 1, 2, 3 …, whatever the size of its commits', async () => {
        expect(await store.commit(sampleCommit(a, 0, { count: 2 }))).toEqual({ status: 'committed' });
        expect(await store.commit(sampleCommit(a, 2, { count: 3 }))).toEqual({ status: 'committed' });
        expect(seqs(await store.read(a, 0, 100))).toEqual([1, 2, 3, 4, 5]);
        expect(await store.row(a)).toMatchObject({ id: a, head: 5, epoch: 0, phase: 'working' });
      });

      it('S3 refuses events that do not go on from the head', async () => {
        const gap = { ...sampleCommit(a, 0), events: [sampleEvent(2)] };
        const none = { ...sampleCommit(a, 0), events: [] };
        await expect(store.commit(gap)).rejects.toThrow('number 1');
        await expect(store.commit(none)).rejects.toThrow('at least one event');
        expect(await store.row(a)).toBeNull();
      });

      it('S2 succeeds only on the head that it names', async () => {
        await append(store, a, 2);
        expect(await store.commit(sampleCommit(a, 1))).toEqual({ status: 'conflict', head: 2 });
        expect(await store.commit(sampleCommit(a, 0))).toEqual({ status: 'conflict', head: 2 });
        expect(await store.commit(sampleCommit(a, 7))).toEqual({ status: 'conflict', head: 2 });
        expect(await store.commit(sampleCommit(b, 3))).toEqual({ status: 'conflict', head: 0 });
        expect(seqs(await store.read(a, 0, 100))).toEqual([1, 2]);
        expect(await store.row(b)).toBeNull();
      });

      it('S1 a refused commit leaves nothing: no event, no blob, no index row', async () => {
        const blob = sampleBlob(bytes(10));
        await append(store, a, 2);
        const late = sampleCommit(a, 1, { blobs: [blob], summary: sampleSummary({ phase: 'paused' }) });
        expect(await store.commit(late)).toEqual({ status: 'conflict', head: 2 });
        expect(await store.row(a)).toMatchObject({ head: 2, phase: 'working' });
        expect(await codeOf(store.blob(a, blob.ref))).toBe('blob.missing');
      });

      it('S2 B042 of commits that race for one head exactly one wins, and the others know the new head', async () => {
        await append(store, a);
        const results = await Promise.all(range(8).map(() => store.commit(sampleCommit(a, 1))));
        expect(results.filter((result) => result.status === 'committed')).toHaveLength(1);
        expect(results.filter((result) => result.status === 'conflict' && result.head === 2)).toHaveLength(7);
        expect(seqs(await store.read(a, 0, 100))).toEqual([1, 2]);
      });

      it('S3 200 commits side by side over 50 sessions leave no gap and no repeat', async () => {
        const ids = range(50).map(sampleId);
        const results = await Promise.all(range(200).map((n) => append(store, ids[n % 50] as SessionId)));
        expect(results.every((result) => result.status === 'committed')).toBe(true);
        for (const id of ids) expect(seqs(await store.read(id, 0, 100))).toEqual([1, 2, 3, 4]);
      });

      it('S1 one that throws takes nothing of its neighbours with it', async () => {
        const forged = { ref: blobRef(bytes(1)), bytes: bytes(2) };
        const results = await Promise.allSettled([
          store.commit(sampleCommit(a, 0)),
          store.commit(sampleCommit(b, 0, { blobs: [forged] })),
          store.commit(sampleCommit(sampleId(3), 0)),
        ]);
        expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect(await store.row(a)).not.toBeNull();
        expect(await store.row(b)).toBeNull();
      });

      it('refuses to move a session to another owner', async () => {
        await append(store, a);
        const moved = sampleCommit(a, 1, { summary: sampleSummary({ owner: 'eve' as Owner }) });
        await expect(store.commit(moved)).rejects.toThrow('keeps its owner');
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
          expect(await codeOf(store.commit(sampleCommit(id, 0)))).toBe('session.unknown');
          expect(await codeOf(store.acquire(id, 'w', 1))).toBe('session.unknown');
          expect(await store.row(id)).toBeNull();
          expect(await store.read(id, 0, 10)).toEqual([]);
        }
        expect(await store.list({ limit: 10 })).toEqual([]);
      });
    });

    describe('start key', () => {
      const start = (session: SessionId, over: Partial<Commit> = {}) =>
        store.commit(sampleCommit(session, 0, { startKey: 'k', ...over }));

      it('finds the session that a repeated start made, and only for its owner', async () => {
        expect(await start(a)).toEqual({ status: 'committed' });
        expect(await start(b)).toEqual({ status: 'exists', session: a });
        expect(await start(a)).toEqual({ status: 'exists', session: a });
        expect(await store.row(b)).toBeNull();
        expect(await store.findStart(local, 'k')).toBe(a);
        expect(await store.findStart('eve' as Owner, 'k')).toBeNull();
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
        for (const [n, key] of keys.entries()) expect(await store.findStart(local, key)).toBe(sampleId(n));
      });
    });

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
        await store.commit({ ...sampleCommit(a, 0), events: odd });
        expect(await store.read(a, 0, 10)).toEqual(odd);
      });

      it('S5 refuses text that it could not give back', async () => {
        for (const body of ['"\ud800"', '"\0"']) {
          const commit = { ...sampleCommit(a, 0), events: [{ ...sampleEvent(1), body }] };
          await expect(store.commit(commit)).rejects.toThrow('well-formed');
        }
      });

      it('S5 gives back bodies and blobs of a megabyte', async () => {
        const big = sampleEvent(1, 'é'.repeat(2 ** 20));
        const blob = sampleBlob(bytes(2 ** 20));
        await store.commit({ ...sampleCommit(a, 0), events: [big], blobs: [blob] });
        const [found] = await store.read(a, 0, 1);
        expect(found?.body === big.body).toBe(true);
        expect(Buffer.compare(await store.blob(a, blob.ref), blob.bytes)).toBe(0);
      });

      it('pages by sequence number; an unknown session and the time after the head are empty', async () => {
        await append(store, a, 5);
        expect(seqs(await store.read(a, 0, 2))).toEqual([1, 2]);
        expect(seqs(await store.read(a, 2, 2))).toEqual([3, 4]);
        expect(seqs(await store.read(a, 4, 2))).toEqual([5]);
        expect(await store.read(a, 5, 2)).toEqual([]);
        expect(await store.read(a, 9, 2)).toEqual([]);
        expect(await store.read(b, 0, 2)).toEqual([]);
        expect(await store.row(b)).toBeNull();
      });
    });

    describe('blobs', () => {
      it('S1 stand and fall with their commit', async () => {
        const blob = sampleBlob(bytes(100));
        await store.commit(sampleCommit(a, 0, { blobs: [blob, sampleBlob(new Uint8Array(0))] }));
        const found = await store.blob(a, blob.ref);
        expect(found.constructor).toBe(Uint8Array);
        expect(found).toEqual(blob.bytes);
        expect(await store.blob(a, blobRef(new Uint8Array(0)))).toEqual(new Uint8Array(0));
      });

      it('may be committed again, and are part of a larger buffer without taking the rest along', async () => {
        const blob = sampleBlob(bytes(100).subarray(10, 20));
        await store.commit(sampleCommit(a, 0, { blobs: [blob] }));
        await store.commit(sampleCommit(a, 1, { blobs: [blob] }));
        expect(await store.blob(a, blob.ref)).toEqual(blob.bytes);
      });

      it('S6 belong to one session', async () => {
        const blob = sampleBlob(bytes(100));
        await store.commit(sampleCommit(a, 0, { blobs: [blob] }));
        await append(store, b);
        expect(await codeOf(store.blob(b, blob.ref))).toBe('blob.missing');
      });

      it('are refused when they do not hash to their name', async () => {
        const forged = { ref: blobRef(bytes(1)), bytes: bytes(2) };
        expect(await codeOf(store.commit(sampleCommit(a, 0, { blobs: [forged] })))).toBe('blob.forged');
        expect(await store.row(a)).toBeNull();
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
          await store.commit(sampleCommit(sampleId(n), 0, { summary: sampleSummary(over) }));
        }
        const list = async (query: Omit<Parameters<Store['list']>[0], 'limit'>, limit = 10) =>
          (await store.list({ ...query, limit })).map((row) => row.id);
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

      it('rows as the last commit described them', async () => {
        await append(store, a);
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
        await store.commit(sampleCommit(a, 1, { summary }));
        const row = { ...summary, id: a, head: 2, epoch: 0 };
        expect(await store.row(a)).toEqual(row);
        expect(await store.list({ limit: 1 })).toEqual([row]);
      });

      it('what is due, the longest overdue first, and when the next will be', async () => {
        expect(await store.nextDue()).toBeNull();
        for (const [n, dueAt] of [300, null, 0, 200].entries()) {
          await store.commit(sampleCommit(sampleId(n), 0, { summary: sampleSummary({ dueAt }) }));
        }
        expect(await store.due(200, 10)).toEqual([sampleId(2), sampleId(3)]);
        expect(await store.due(999, 1)).toEqual([sampleId(2)]);
        expect(await store.nextDue()).toBe(0);
        await store.commit(sampleCommit(sampleId(2), 1));
        expect(await store.due(200, 10)).toEqual([sampleId(3)]);
        expect(await store.nextDue()).toBe(200);
      });
    });

    describe('lease', () => {
      it('S4 is held by one; the next epoch is higher', async () => {
        await append(store, a);
        expect(await store.acquire(a, 'w1', 1000)).toEqual({ status: 'acquired', epoch: 1, clean: true });
        expect(await store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'held', holder: 'w1' });
        expect(await store.row(a)).toMatchObject({ epoch: 1, head: 1 });
        await store.release(a, 1);
        expect(await store.acquire(a, 'w2', 1000)).toEqual({ status: 'acquired', epoch: 2, clean: true });
      });

      it('is given again to its own holder, whose actor must have ended; the takeover is not clean', async () => {
        const old = await hold(a, 'w1');
        expect(await store.acquire(a, 'w1', 1000)).toEqual({
          status: 'acquired',
          epoch: old + 1,
          clean: false,
        });
        expect(await store.renew(a, old, 1000)).toBe(false);
      });

      it('goes to one of many who ask at once', async () => {
        await append(store, a);
        const results = await Promise.all(range(5).map((n) => store.acquire(a, `w${n}`, 1000)));
        expect(results.map((result) => result.status).sort()).toEqual([
          'acquired',
          ...range(4).map(() => 'held'),
        ]);
      });

      it("lapses by the store's clock, and the takeover is not clean", async () => {
        await hold(a);
        await opened.advance(999);
        expect(await store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'held' });
        await opened.advance(1);
        expect(await store.acquire(a, 'w2', 1000)).toEqual({ status: 'acquired', epoch: 2, clean: false });
      });

      it('is renewed by its epoch only', async () => {
        const epoch = await hold(a);
        await opened.advance(900);
        expect(await store.renew(a, epoch, 1000)).toBe(true);
        await opened.advance(900);
        expect(await store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'held' });
        await opened.advance(200);
        expect(await store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'acquired' });
        expect(await store.renew(a, epoch, 1000)).toBe(false);
        await store.release(a, epoch);
        expect(await store.acquire(a, 'w3', 1000)).toMatchObject({ status: 'held', holder: 'w2' });
        expect(await store.renew(b, 1, 1000)).toBe(false);
      });

      it('S4 a commit under an older epoch changes nothing, also on the right head', async () => {
        const old = await hold(a);
        await opened.advance(1000);
        const epoch = epochOf(await store.acquire(a, 'w2', 1000));
        expect(await store.commit(sampleCommit(a, 1, { epoch: old }))).toEqual({ status: 'fenced', epoch });
        expect(await store.commit(sampleCommit(a, 9, { epoch: old }))).toEqual({ status: 'fenced', epoch });
        expect(await store.commit(sampleCommit(a, 1, { epoch: epoch + 1 }))).toEqual({
          status: 'fenced',
          epoch,
        });
        expect(await store.row(a)).toMatchObject({ head: 1 });
        expect(await store.commit(sampleCommit(a, 1, { epoch }))).toEqual({ status: 'committed' });
      });

      it('S2 inputs need no lease, and a holder whose head they moved has to look again', async () => {
        const epoch = await hold(a);
        expect(await append(store, a)).toEqual({ status: 'committed' });
        expect(await store.commit(sampleCommit(a, 1, { epoch }))).toEqual({ status: 'conflict', head: 2 });
        expect(await store.commit(sampleCommit(a, 2, { epoch }))).toEqual({ status: 'committed' });
      });

      it('falls at once when its holder is provably dead', async ({ skip }) => {
        const epoch = await hold(a, 'w1', 1_000_000);
        await reopen(skip);
        expect(await store.renew(a, epoch, 1000)).toBe(false);
        expect(await store.acquire(a, 'w2', 1000)).toEqual({ status: 'acquired', epoch: 2, clean: false });
        expect(await store.commit(sampleCommit(a, 1, { epoch }))).toEqual({ status: 'fenced', epoch: 2 });
      });

      it('is not given for a session that does not exist', async () => {
        expect(await codeOf(store.acquire(a, 'w1', 1000))).toBe('session.unknown');
      });
    });

    it('S1 everything committed is there after a restart', async ({ skip }) => {
      const blob = sampleBlob(bytes(1000));
      await store.commit(sampleCommit(a, 0, { count: 3, blobs: [blob], startKey: 'k' }));
      await store.commit(sampleCommit(b, 0, { summary: sampleSummary({ dueAt: 7, startedAt: 2000 }) }));
      await store.release(a, epochOf(await store.acquire(a, 'w1', 1000)));
      const before = await everything();
      await reopen(skip);
      expect(await everything()).toEqual(before);
      expect(await store.blob(a, blob.ref)).toEqual(blob.bytes);
      expect(await store.acquire(a, 'w2', 1000)).toEqual({ status: 'acquired', epoch: 2, clean: true });
    });

    async function everything(): Promise<unknown> {
      return {
        rows: await store.list({ limit: 10 }),
        logs: [await store.read(a, 0, 10), await store.read(b, 0, 10)],
        start: await store.findStart(local, 'k'),
        due: await store.due(10, 10),
        nextDue: await store.nextDue(),
      };
    }
  });
}

function epochOf(acquired: Acquired): number {
  if (acquired.status !== 'acquired') throw new Error(`held by ${acquired.holder}`);
  return acquired.epoch;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  return error instanceof OutlastError ? error.code : `no code: ${error}`;
}

function seqs(events: readonly StoredEvent[]): number[] {
  return events.map((event) => event.seq);
}

function range(n: number): number[] {
  return Array.from({ length: n }, (_, index) => index);
}

/** Bytes that do not compress to nothing, the same each time. */
function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 2654435761) >>> 13);
}
