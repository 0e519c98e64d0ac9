/**
 * The suite that proves a store: `storeSuite` in an adapter's test file, and the port's statements are its tests.
 *
 * It leaves to the adapters what only they can lose: real processes, torn files, full disks.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from './port.ts';
import { local, sampleBlob, sampleCommit, sampleSummary } from './sample.ts';
import { budgetSuite } from './suite/budgets.ts';
import { commitSuite } from './suite/commits.ts';
import { erasingSuite } from './suite/erasing.ts';
import { leaseSuite } from './suite/leases.ts';
import { readSuite } from './suite/reads.ts';
import { slotSuite } from './suite/slots.ts';
import { a, b, bytes, epochOf, type Trial } from './suite/trial.ts';
import { wordSuite } from './suite/words.ts';

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
    const trial: Trial = {
      get store() {
        return store;
      },
      advance: (ms) => opened.advance(ms),
      async reopen(skip) {
        if ('skip' in opened.reopen) return skip(opened.reopen.skip);
        store = await opened.reopen();
      },
    };

    beforeEach(async () => {
      opened = await subject.open();
      store = opened.store;
    });
    afterEach(() => opened.dispose?.());

    commitSuite(trial);
    readSuite(trial);
    leaseSuite(trial);
    slotSuite(trial);
    budgetSuite(trial);
    wordSuite(trial);
    erasingSuite(trial);

    it('S1 everything committed is there after a restart', async ({ skip }) => {
      const blob = sampleBlob(bytes(1000));
      await trial.store.commit(sampleCommit(a, 0, { count: 3, blobs: [blob], startKey: 'k' }));
      await trial.store.commit(sampleCommit(b, 0, { summary: sampleSummary({ dueAt: 7, startedAt: 2000 }) }));
      await trial.store.release(a, epochOf(await trial.store.acquire(a, 'w1', 1000)));
      const before = await everything();
      await trial.reopen(skip);
      expect(await everything()).toEqual(before);
      expect(await trial.store.blob(a, blob.ref)).toEqual(blob.bytes);
      expect(await trial.store.acquire(a, 'w2', 1000)).toEqual({ status: 'acquired', epoch: 2, clean: true });
    });

    async function everything(): Promise<unknown> {
      return {
        rows: await trial.store.list({ limit: 10 }),
        logs: [await trial.store.read(a, 0, 10), await trial.store.read(b, 0, 10)],
        start: await trial.store.findStart(local, 'k'),
        due: await trial.store.due(10, 10),
        nextDue: await trial.store.nextDue(),
      };
    }
  });
}
