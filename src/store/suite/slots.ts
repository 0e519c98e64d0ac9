/** The suite: who of an owner may work, and who waits. */

import { describe, expect, it } from 'vitest';
import type { Owner, SessionId } from '../../core/ids.ts';
import { local, sampleCommit, sampleId, sampleSummary } from '../sample.ts';
import { epochOf, hold, range, type Trial } from './trial.ts';

const [one, two, three, four] = range(4).map((n) => sampleId(n + 1)) as [
  SessionId,
  SessionId,
  SessionId,
  SessionId,
];

export function slotSuite(trial: Trial): void {
  /** Holds the session and asks for a slot. */
  async function ask(session: SessionId, slots = 1, holder = 'w1') {
    const isThere = (await trial.store.row(session)) !== null;
    const epoch = isThere
      ? epochOf(await trial.store.acquire(session, holder, 1000))
      : await hold(trial, session, holder);
    return { epoch, claimed: await trial.store.claim(session, epoch, slots, 1000) };
  }

  async function queued(session: SessionId, queuedAt?: number): Promise<void> {
    const head = (await trial.store.row(session))?.head ?? 0;
    const summary = sampleSummary(queuedAt === undefined ? {} : { queuedAt });
    await trial.store.commit(sampleCommit(session, head, { summary }));
  }

  const granted = { status: 'granted' };

  describe('slots', () => {
    it('S9 are counted, and counting one twice changes nothing', async () => {
      const { epoch, claimed } = await ask(one, 2);
      expect(claimed).toEqual(granted);
      expect(await trial.store.claim(one, epoch, 2, 1000)).toEqual(granted);
      expect((await ask(two, 2)).claimed).toEqual(granted);
      expect((await ask(three, 2)).claimed).toEqual({ status: 'full', place: 1 });
      expect(await trial.store.queue(local)).toEqual({ slots: null, working: 2, waiting: [] });
    });

    it('S9 go to those who wait longest, and to nobody before them', async () => {
      const { epoch } = await ask(one);
      await ask(two);
      await ask(three);
      await queued(three, 10);
      await queued(two, 20);
      expect((await ask(four)).claimed).toEqual({ status: 'full', place: 3 });
      expect(await trial.store.queue(local)).toEqual({ slots: null, working: 1, waiting: [three, two] });
      expect(await trial.store.due(0, 10, 1)).toEqual([]);
      expect(await trial.store.free(one, epoch)).toBe(three);
      expect(await trial.store.due(0, 10, 1)).toEqual([three]);
      expect(await trial.store.due(0, 10, 2)).toEqual([three, two]);
      expect((await ask(two)).claimed).toEqual({ status: 'full', place: 2 });
      const third = await ask(three);
      expect(third.claimed).toEqual(granted);
      // It has not said so yet, and waits no more all the same.
      expect(await trial.store.queue(local)).toEqual({ slots: null, working: 1, waiting: [two] });
      await queued(three);
      expect(await trial.store.release(three, third.epoch)).toBe(two);
      await queued(two);
      expect((await ask(four)).claimed).toEqual(granted);
    });

    it('S9 wait behind what is due', async () => {
      await queued(two, 20);
      await trial.store.commit(sampleCommit(one, 0, { summary: sampleSummary({ dueAt: 5 }) }));
      expect(await trial.store.due(10, 10, 1)).toEqual([one, two]);
      expect(await trial.store.due(10, 1, 1)).toEqual([one]);
    });

    it('S9 end with the lease: released, lapsed or taken over', async () => {
      const first = await ask(one);
      await trial.store.release(one, first.epoch);
      const second = await ask(two);
      expect(second.claimed).toEqual(granted);
      await trial.advance(1000);
      expect((await trial.store.queue(local)).working).toBe(0);
      // Lapsed, and nobody has taken it, nor its slot.
      expect(await trial.store.renew(two, second.epoch, 1000)).toBe(true);
      await trial.advance(1000);
      expect((await ask(three)).claimed).toEqual(granted);
      expect(await trial.store.renew(two, second.epoch, 1000)).toBe(false);
      expect(await trial.store.claim(two, second.epoch, 1, 1000)).toEqual({ status: 'full', place: 1 });
      await trial.store.acquire(two, 'w2', 1000);
      expect(await trial.store.claim(two, second.epoch, 9, 1000)).toEqual({
        status: 'fenced',
        epoch: second.epoch + 1,
      });
      await trial.advance(1000);
      const epoch = epochOf(await trial.store.acquire(three, 'w2', 1000));
      expect((await trial.store.queue(local)).working).toBe(0);
      expect(await trial.store.claim(three, epoch - 1, 9, 1000)).toEqual({ status: 'fenced', epoch });
      expect(await trial.store.free(three, epoch - 1)).toBeNull();
      expect(await trial.store.claim(three, epoch, 1, 1000)).toEqual(granted);
    });

    it('S9 a lease that counts no more is still a lease', async () => {
      const { epoch } = await ask(one);
      expect(await trial.store.free(one, epoch)).toBeNull();
      expect(await trial.store.renew(one, epoch, 1000)).toBe(true);
      expect((await ask(two)).claimed).toEqual(granted);
      expect(await trial.store.claim(one, epoch, 1, 1000)).toEqual({ status: 'full', place: 1 });
    });

    it("S9 are an owner's own, in number too", async () => {
      const other = 'other' as Owner;
      await ask(one);
      await trial.store.commit(sampleCommit(two, 0, { summary: sampleSummary({ owner: other }) }));
      const epoch = epochOf(await trial.store.acquire(two, 'w1', 1000));
      expect(await trial.store.claim(two, epoch, 1, 1000)).toEqual(granted);
      await trial.store.setSlots(local, 2);
      await trial.store.setBudget(local, { steps: 1 });
      expect((await ask(three)).claimed).toEqual(granted);
      expect((await trial.store.queue(local)).slots).toBe(2);
      expect((await trial.store.queue(other)).slots).toBeNull();
      await trial.store.setSlots(local, null);
      expect((await ask(four)).claimed).toMatchObject({ status: 'full' });
      expect((await trial.store.budget(local)).limits).toEqual({ steps: 1 });
    });

    it('S9 the queue survives its worker, and the slots do not', async ({ skip }) => {
      const { epoch } = await ask(one, 1, 'w1');
      await ask(two);
      await queued(two, 20);
      await trial.reopen(skip);
      expect(await trial.store.queue(local)).toEqual({ slots: null, working: 0, waiting: [two] });
      expect(await trial.store.due(0, 10, 1)).toEqual([two]);
      expect(await trial.store.claim(one, epoch, 1, 1000)).toEqual({ status: 'fenced', epoch });
    });
  });
}
