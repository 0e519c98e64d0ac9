/** The suite: what an owner may use, and what is reserved of it. */

import { describe, expect, it } from 'vitest';
import { NO_BUDGETS, NOTHING_SPENT, type Spent } from '../../core/budget/budget.ts';
import type { Owner } from '../../core/ids.ts';
import type { Reservation } from '../port.ts';
import { local } from '../sample.ts';
import { a, b, range, type Trial } from './trial.ts';

const bob = 'bob' as Owner;

const asks = (over: Partial<Reservation> = {}): Reservation => ({
  ...{ owner: local, session: a, turn: 1, key: 'k1', limits: NO_BUDGETS },
  amounts: { microUsd: 10, tokens: 100, steps: 1, ms: 1_000 },
  spent: { turn: NOTHING_SPENT, session: NOTHING_SPENT },
  ...over,
});
const spent = (over: Partial<Spent>): Spent => ({ ...NOTHING_SPENT, steps: 1, ...over });
const session = (limits: object) => ({ turn: {}, session: limits });

export function budgetSuite(trial: Trial): void {
  describe('budget', () => {
    const held = async (owner = local) => (await trial.store.budget(owner)).held;

    it('S7 of an owner is what was set, is lifted by null, and keeps what was spent', async () => {
      expect(await trial.store.budget(local)).toMatchObject({ limits: {}, spent: NOTHING_SPENT });
      await trial.store.setBudget(local, { microUsd: 20, steps: 5 });
      await trial.store.reserve(asks());
      await trial.store.settle(local, 'k1', spent({ microUsd: 7, tokens: 50, unpriced: 1 }));
      expect(await trial.store.budget(local)).toMatchObject({
        limits: { microUsd: 20, steps: 5 },
        spent: { microUsd: 7, tokens: 50, steps: 1, unpriced: 1 },
        held: { microUsd: 0, tokens: 0, steps: 0, ms: 0 },
      });
      await trial.store.setBudget(local, null);
      expect(await trial.store.budget(local)).toMatchObject({ limits: {}, spent: { microUsd: 7 } });
      expect(await trial.store.budget(bob)).toMatchObject({ limits: {}, spent: NOTHING_SPENT });
    });

    it('S7 two sessions that ask at once cannot both take what is left', async () => {
      await trial.store.setBudget(local, { microUsd: 15 });
      const both = await Promise.all([
        trial.store.reserve(asks()),
        trial.store.reserve(asks({ session: b, key: 'k2' })),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(['exhausted', 'granted']);
      const refused = both.find(({ status }) => status === 'exhausted');
      expect(refused).toMatchObject({
        scope: 'owner',
        what: 'microUsd',
        limit: 15,
        spent: 10,
        needed: 10,
        isHeld: true,
      });
      expect(await trial.store.reserve(asks({ owner: bob, session: b, key: 'k3' }))).toMatchObject({
        status: 'granted',
      });
    });

    it('S7 what is not settled counts in full for ever, also after a restart', async ({ skip }) => {
      const limits = session({ tokens: 150 });
      await trial.store.reserve(asks({ limits }));
      await trial.reopen(skip);
      expect(await trial.store.reserve(asks({ limits, key: 'k2' }))).toMatchObject({
        ...{ status: 'exhausted', scope: 'session', what: 'tokens', spent: 100, isHeld: true },
      });
      expect(await held()).toMatchObject({ tokens: 100 });
    });

    it('S7 reserving again, or settling again, by the same key changes nothing', async () => {
      const limits = session({ tokens: 150 });
      for (const _ of range(3))
        expect(await trial.store.reserve(asks({ limits }))).toMatchObject({ status: 'granted' });
      expect(await held()).toMatchObject({ tokens: 100, steps: 1 });
      for (const _ of range(3)) await trial.store.settle(local, 'k1', spent({ tokens: 40 }));
      await trial.store.settle(local, 'never', spent({ tokens: 40 }));
      expect(await trial.store.budget(local)).toMatchObject({
        spent: { tokens: 40 },
        held: { tokens: 0, steps: 0 },
      });
      expect(await trial.store.reserve(asks({ limits, key: 'k2' }))).toMatchObject({ status: 'granted' });
    });

    it('S7 a settlement may be more than was reserved, and what is refused leaves nothing', async () => {
      const limits = session({ microUsd: 30 });
      await trial.store.reserve(asks({ limits }));
      await trial.store.settle(local, 'k1', spent({ microUsd: 29 }));
      expect(await trial.store.reserve(asks({ limits, key: 'k2' }))).toMatchObject({
        spent: 29,
        isHeld: false,
      });
      expect(await held()).toMatchObject({ microUsd: 0 });
    });

    it('S7 a new turn begins at nothing, its session does not; an older turn ends none', async () => {
      const limits = { turn: { steps: 1 }, session: { steps: 3 } };
      const ask = (turn: number, key: string) => trial.store.reserve(asks({ turn, key, limits }));
      expect(await ask(1, 'k1')).toMatchObject({ status: 'granted' });
      expect(await ask(1, 'k2')).toMatchObject({ scope: 'turn', what: 'steps', limit: 1, spent: 1 });
      expect(await ask(2, 'k3')).toMatchObject({ status: 'granted' });
      await trial.store.settle(local, 'k1', spent({}));
      expect(await ask(2, 'k4')).toMatchObject({ scope: 'turn', spent: 1 });
      expect(await ask(1, 'k5')).toMatchObject({ status: 'granted' });
      expect(await ask(3, 'k6')).toMatchObject({ scope: 'session', limit: 3, spent: 3 });
    });

    it('S7 time is given as far as it is left', async () => {
      const limits = session({ ms: 1_500 });
      expect(await trial.store.reserve(asks({ limits }))).toEqual({ status: 'granted', ms: 1_000 });
      expect(await trial.store.reserve(asks({ limits, key: 'k2' }))).toEqual({ status: 'granted', ms: 500 });
      expect(await trial.store.reserve(asks({ limits, key: 'k3' }))).toMatchObject({
        what: 'ms',
        spent: 1_500,
      });
    });

    it('S7 without a price nothing fits into money, and all into the rest', async () => {
      const amounts = { ...asks().amounts, microUsd: null };
      expect(
        await trial.store.reserve(asks({ amounts, limits: session({ microUsd: 1_000_000 }) })),
      ).toMatchObject({
        ...{ status: 'exhausted', code: 'budget.unpriced', what: 'microUsd', scope: 'session' },
      });
      expect(await trial.store.reserve(asks({ amounts, limits: session({ steps: 5 }) }))).toMatchObject({
        status: 'granted',
      });
    });

    it('S7 what the log of a session knows counts, also from before there was a limit', async () => {
      const before = { ...NOTHING_SPENT, microUsd: 25, steps: 4, ms: 100 };
      const limits = session({ microUsd: 30 });
      const over = { limits, spent: { turn: NOTHING_SPENT, session: before } };
      expect(await trial.store.reserve(asks(over))).toMatchObject({ spent: 25, limit: 30, scope: 'session' });
      const enough = { ...over, limits: session({ microUsd: 35 }) };
      expect(await trial.store.reserve(asks(enough))).toMatchObject({ status: 'granted' });
      await trial.store.settle(local, 'k1', spent({ microUsd: 5, ms: 10 }));
      // Effects took 90 ms since: that is the owner's time, too.
      const later = { turn: NOTHING_SPENT, session: { ...before, microUsd: 30, steps: 5, ms: 200 } };
      await trial.store.reserve(
        asks({ ...enough, key: 'k2', limits: session({ microUsd: 99 }), spent: later }),
      );
      expect((await trial.store.budget(local)).spent).toMatchObject({ microUsd: 5, steps: 1, ms: 100 });
    });
  });
}
