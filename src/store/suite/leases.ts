/** The suite: who holds a session. */

import { describe, expect, it } from 'vitest';
import { append, sampleCommit } from '../sample.ts';
import { a, b, codeOf, epochOf, hold, range, type Trial } from './trial.ts';

export function leaseSuite(trial: Trial): void {
  describe('lease', () => {
    it('S4 is held by one; the next epoch is higher', async () => {
      await append(trial.store, a);
      expect(await trial.store.acquire(a, 'w1', 1000)).toEqual({ status: 'acquired', epoch: 1, clean: true });
      expect(await trial.store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'held', holder: 'w1' });
      expect(await trial.store.row(a)).toMatchObject({ epoch: 1, head: 1 });
      await trial.store.release(a, 1);
      expect(await trial.store.acquire(a, 'w2', 1000)).toEqual({ status: 'acquired', epoch: 2, clean: true });
    });

    it('is given again to its own holder, whose actor must have ended; the takeover is not clean', async () => {
      const old = await hold(trial, a, 'w1');
      expect(await trial.store.acquire(a, 'w1', 1000)).toEqual({
        status: 'acquired',
        epoch: old + 1,
        clean: false,
      });
      expect(await trial.store.renew(a, old, 1000)).toBe(false);
    });

    it('goes to one of many who ask at once', async () => {
      await append(trial.store, a);
      const results = await Promise.all(range(5).map((n) => trial.store.acquire(a, `w${n}`, 1000)));
      expect(results.map((result) => result.status).sort()).toEqual([
        'acquired',
        ...range(4).map(() => 'held'),
      ]);
    });

    it("lapses by the store's clock, and the takeover is not clean", async () => {
      await hold(trial, a);
      await trial.advance(999);
      expect(await trial.store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'held' });
      await trial.advance(1);
      expect(await trial.store.acquire(a, 'w2', 1000)).toEqual({
        status: 'acquired',
        epoch: 2,
        clean: false,
      });
    });

    it('is renewed by its epoch only', async () => {
      const epoch = await hold(trial, a);
      await trial.advance(900);
      expect(await trial.store.renew(a, epoch, 1000)).toBe(true);
      await trial.advance(900);
      expect(await trial.store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'held' });
      await trial.advance(200);
      expect(await trial.store.acquire(a, 'w2', 1000)).toMatchObject({ status: 'acquired' });
      expect(await trial.store.renew(a, epoch, 1000)).toBe(false);
      await trial.store.release(a, epoch);
      expect(await trial.store.acquire(a, 'w3', 1000)).toMatchObject({ status: 'held', holder: 'w2' });
      expect(await trial.store.renew(b, 1, 1000)).toBe(false);
    });

    it('S4 a commit under an older epoch changes nothing, also on the right head', async () => {
      const old = await hold(trial, a);
      await trial.advance(1000);
      const epoch = epochOf(await trial.store.acquire(a, 'w2', 1000));
      expect(await trial.store.commit(sampleCommit(a, 1, { epoch: old }))).toEqual({
        status: 'fenced',
        epoch,
      });
      expect(await trial.store.commit(sampleCommit(a, 9, { epoch: old }))).toEqual({
        status: 'fenced',
        epoch,
      });
      expect(await trial.store.commit(sampleCommit(a, 1, { epoch: epoch + 1 }))).toEqual({
        status: 'fenced',
        epoch,
      });
      expect(await trial.store.row(a)).toMatchObject({ head: 1 });
      expect(await trial.store.commit(sampleCommit(a, 1, { epoch }))).toEqual({ status: 'committed' });
    });

    it('S2 inputs need no lease, and a holder whose head they moved has to look again', async () => {
      const epoch = await hold(trial, a);
      expect(await append(trial.store, a)).toEqual({ status: 'committed' });
      expect(await trial.store.commit(sampleCommit(a, 1, { epoch }))).toEqual({
        status: 'conflict',
        head: 2,
      });
      expect(await trial.store.commit(sampleCommit(a, 2, { epoch }))).toEqual({ status: 'committed' });
    });

    it('falls at once when its holder is provably dead', async ({ skip }) => {
      const epoch = await hold(trial, a, 'w1', 1_000_000);
      await trial.reopen(skip);
      expect(await trial.store.renew(a, epoch, 1000)).toBe(false);
      expect(await trial.store.acquire(a, 'w2', 1000)).toEqual({
        status: 'acquired',
        epoch: 2,
        clean: false,
      });
      expect(await trial.store.commit(sampleCommit(a, 1, { epoch }))).toEqual({ status: 'fenced', epoch: 2 });
    });

    it('is not given for a session that does not exist', async () => {
      expect(await codeOf(trial.store.acquire(a, 'w1', 1000))).toBe('session.unknown');
    });
  });
}
