/** Budgets over a real disk: what a server knows of money stands after it, and a raise goes on from that very step. */

import { expect, it } from 'vitest';
import type { Model } from '../../src/models/port.ts';
import { call, createOutlast, say, since, withFolder } from './outlast.ts';

const usage = { inputTokens: 2_000, outputTokens: 1_000, cachedTokens: 0 };
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
    await first.setOwnerBudget({ microUsd: 9_500 });
    const { session } = await first.start({
      ...{ message: 'work', persist: true, budget: { session: { microUsd: 8_000 } } },
    });
    expect(await first.rest(session)).toBe('paused');
    expect(model.calls).toBe(2);
    expect((await first.inspect(session)).budget.spent).toMatchObject({
      microUsd: 6_000,
      steps: 2,
      unpriced: 0,
    });
    await first.close();

    const second = await open();
    expect(await second.rest(session)).toBe('paused');
    expect((await second.inspect(session)).reason).toContain("The session's budget");
    expect(await second.ownerBudget()).toMatchObject({
      limits: { microUsd: 9_500 },
      spent: { microUsd: 6_000 },
    });
    await second.setBudget(session, { session: { microUsd: null } });
    expect(await second.rest(session)).toBe('paused');
    expect((await second.inspect(session)).reason).toContain("The owner's budget");
    await second.close();

    const third = await open();
    expect(await third.setOwnerBudget({ microUsd: 100_000 })).toMatchObject({
      limits: { microUsd: 100_000 },
    });
    expect(await third.rest(session)).toBe('awaiting_input');
    expect((await third.inspect(session)).lastTurn?.text).toBe('all done');
    expect(model.calls).toBe(4);
    const costs = (await third.events(session, 0, 100)).flatMap((e) =>
      e.kind === 'model.completed' ? [e.cost] : [],
    );
    expect(costs).toEqual(Array.from({ length: 4 }, () => ({ microUsd: 3_000, source: 'own price' })));
    expect(await third.ownerBudget()).toMatchObject({
      spent: { microUsd: 12_000, steps: 4 },
      held: { microUsd: 0 },
    });
    await third.close();
  }),
);
