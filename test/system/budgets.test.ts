/** Budgets over a real disk: what a server knows of money stands after it, and a raise goes on from that very step. */

import { expect, it } from 'vitest';
import type { Model } from '../../src/models/port.ts';
import { call, createOutlast, say, since, withFolder } from './outlast.ts';

/** Far more than what a call is reckoned to take at the least: rules, tools and a short reply. */
const usage = { inputTokens: 20_000, outputTokens: 10_000, cachedTokens: 0 };
const prices = { 'test/costly': { inputPerMTok: 1, outputPerMTok: 1 } };

function costly(): Model & { calls: number } {
  const model = {
    ...{ name: 'test/costly', scripted: false, calls: 0 },
    async generate(request: Parameters<Model['generate']>[0]) {
      model.calls++;
      const { length } = since(request).results;
      return { ...(length < 3 ? call('progress', { text: `step ${length}` }) : say('all done')), usage };
    },
  };
  return model;
}

it('rests at its limit, also for the next server, and goes on when it is raised', { timeout: 60_000 }, () =>
  withFolder(async (dataDir) => {
    const model = costly();
    const open = () => createOutlast({ dataDir, model, prices, report: () => {} });
    const first = await open();
    await first.setOwnerBudget({ microUsd: 66_000 });
    const { session } = await first.start({
      ...{ message: 'work', persist: true, budget: { session: { microUsd: 65_000 } } },
    });
    expect(await first.rest(session)).toBe('paused');
    expect(model.calls).toBe(2);
    expect((await first.inspect(session)).budget.spent).toMatchObject({
      microUsd: 60_000,
      steps: 2,
      unpriced: 0,
    });
    await first.close();

    const second = await open();
    expect(await second.rest(session)).toBe('paused');
    expect((await second.inspect(session)).reason).toContain("The session's budget");
    expect(await second.ownerBudget()).toMatchObject({
      limits: { microUsd: 66_000 },
      spent: { microUsd: 60_000 },
    });
    await second.setBudget(session, { session: { microUsd: null } });
    expect(await second.rest(session)).toBe('paused');
    expect((await second.inspect(session)).reason).toContain("The owner's budget");
    await second.close();

    const third = await open();
    expect(await third.setOwnerBudget({ microUsd: 1_000_000 })).toMatchObject({
      limits: { microUsd: 1_000_000 },
    });
    expect(await third.rest(session)).toBe('awaiting_input');
    expect((await third.inspect(session)).lastTurn?.text).toBe('all done');
    expect(model.calls).toBe(4);
    const costs = (await third.events(session, 0, 100)).flatMap((e) =>
      e.kind === 'model.completed' ? [e.cost] : [],
    );
    expect(costs).toEqual(Array.from({ length: 4 }, () => ({ microUsd: 30_000, source: 'own price' })));
    expect(await third.ownerBudget()).toMatchObject({
      spent: { microUsd: 120_000, steps: 4 },
      held: { microUsd: 0 },
    });
    await third.close();
  }),
);
