/** Cost: what ends says that it ended, two share what one owner has, and the same failing call is not made for ever. */

import { expect, it } from 'vitest';
import type { Usage } from '../../src/core/message.ts';
import type { Prices } from '../../src/models/port.ts';
import { calls, gate, read, say, tool } from '../../src/testing/harness.ts';
import { DELEGATION } from '../../src/tools/delegate/delegate.ts';
import { books, events, given, instructions, present, responses, results, sandbox } from './kit.ts';

/** A micro-dollar for each token. */
const prices: Prices = {
  price: async (_model, { inputTokens, outputTokens }) => ({
    microUsd: inputTokens + outputTokens,
    source: 'test',
  }),
};
const usage: Usage = { inputTokens: 2_000, outputTokens: 1_000, cachedTokens: 0 };
const ONE = 3_000;

it('B031 the same failing call is refused at the fourth time and ends the turn at the sixth', async () => {
  let ran = 0;
  const broken = tool('broken', { kind: 'read' }, async () => {
    ran++;
    return { status: 'failed', code: 'no', message: 'it does not work' };
  });
  const h = given({
    tools: [broken],
    model: (request) => {
      const said = instructions(request);
      return said.length > 1 ? say('another way') : calls(['broken', { what: 'x' }], ['look', { what: 'y' }]);
    },
  });
  const id = await h.start('try');
  expect(await h.rest(id)).toBe('awaiting_input');

  expect(ran).toBe(3);
  expect(await events(h, id, 'turn.failed')).toMatchObject([{ code: 'breaker.tripped', turn: 1 }]);
  const refused = await events(h, id, 'call.refused');
  expect(refused.map(({ code }) => code)).toEqual(['call.repeated', 'call.repeated', 'call.repeated']);
  expect(refused[0]?.message).toContain('failed 3 times');
  expect(h.requests).toHaveLength(6);
  await h.tell(id, 'and now');
  expect(await responses(h, id)).toEqual(['another way']);
});

it('B031 a cell with the same source counts as the same call, and one that succeeds between is forgotten', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const { length } = results(request);
      if (length === 9) return say('done');
      // Fails, but for the third time.
      return calls([
        'code',
        { source: 'globalThis.n = (globalThis.n ?? 0) + 1; if (n !== 3) throw new Error("no"); n' },
      ]);
    },
    limits: { stepsPerTurn: 40 },
  });
  const id = await h.start('try');
  await h.rest(id);
  expect(await events(h, id, 'turn.failed')).toMatchObject([{ code: 'breaker.tripped' }]);
  expect(await events(h, id, 'cell.started')).toHaveLength(6);
});

it('B121 two sessions of an owner share what is left: together they never take more', async () => {
  const h = given({
    prices,
    model: (request) => ({
      ...(read(request).results.length < 5 ? calls(['look', { what: 'x' }]) : say('done')),
      usage,
    }),
  });
  const limit = 8 * ONE;
  await h.done(h.api.setOwnerBudget({ microUsd: limit }));
  const ids = [await h.start('one'), await h.start('two'), await h.start('three')];
  const phases = [];
  for (const id of ids) phases.push(await h.rest(id));

  expect(phases).toContain('paused');
  expect(h.requests.length * ONE).toBeLessThanOrEqual(limit);
  const spent = await h.done(h.api.ownerBudget());
  expect(spent.spent).toMatchObject({ microUsd: h.requests.length * ONE, steps: h.requests.length });
  const [rests] = (await Promise.all(ids.map((id) => events(h, id, 'budget.exhausted')))).flat();
  expect(rests).toMatchObject({ scope: 'owner', what: 'microUsd', limit, code: 'budget.exhausted' });

  await h.done(h.api.setOwnerBudget({ microUsd: 100 * ONE }));
  for (const id of ids) expect(await h.rest(id)).toBe('awaiting_input');
  for (const id of ids) expect(await responses(h, id)).toEqual(['done']);
});

it('B121 a session and its children have one budget: together they never take more', async () => {
  const h = given({
    prices,
    tools: DELEGATION,
    limits: { childrenAtOnce: 3 },
    model: (request) => {
      const got = read(request).results.length;
      if (instructions(request)[0] !== 'parent')
        return { ...(got < 5 ? calls(['look', { what: 'x' }]) : say('done')), usage };
      const three = ['a', 'b', 'c'].map((task) => ['delegate', { task }] as const);
      return { ...(got === 0 ? calls(...three) : say('done')), usage };
    },
  });
  // Alone, each of the three would take six, and the parent two: twenty.
  const limit = 40_000;
  expect(limit).toBeLessThan(20 * ONE);
  const id = await h.start('parent', { budget: { session: { microUsd: limit } } });
  await h.rest(id);
  await h.pass(60_000);
  const { children } = (await h.state(id)).family;
  expect(children).toHaveLength(3);
  const spent = await Promise.all(
    [id, ...children.map((child) => child.id)].map(async (one) => (await h.state(one)).budget.spent.microUsd),
  );
  // All have worked, and none came to the end of its work.
  expect(spent.every((one) => one > 0)).toBe(true);
  expect(spent.reduce((sum, one) => sum + one, 0)).toBe(h.requests.length * ONE);
  expect(h.requests.length * ONE).toBeLessThanOrEqual(limit);
  for (const { id: child } of children) expect(await responses(h, child)).toEqual([]);
});

it('B121 what a crash took with it is not forgotten: the budget counts all that the call could cost', async () => {
  const held = gate();
  const h = given({
    prices,
    model: async () => {
      await held.pass();
      return { ...say('done'), usage };
    },
  });
  const id = await h.start('go', { budget: { session: { microUsd: 14_500 } } });
  await h.until(() => held.reached === 1, 'a model call');
  h.restart();
  await h.until(() => held.reached === 2, 'another one');
  h.restart();
  // 8,192 and 2,048 tokens of output were reserved, and the requests.
  expect(await h.rest(id)).toBe('paused');
  expect(held.reached).toBe(2);
  expect((await h.state(id)).budget.spent).toMatchObject({ microUsd: 0, lost: 2 });
  const budget = await h.done(h.api.ownerBudget());
  expect(budget.held.microUsd).toBeGreaterThan(8_192 + 2_048);
  held.open();
  await h.done(h.api.setBudget(id, { session: { microUsd: 40_000 } }));
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(await responses(h, id)).toEqual(['done']);
});

it('B156 what is reserved is what the request would cost if the provider wrote all of it to its cache', async () => {
  const dearer: Prices = {
    price: async (_model, { inputTokens, outputTokens, cacheWriteTokens = 0 }) => ({
      microUsd: inputTokens + 9 * cacheWriteTokens + outputTokens,
      source: 'test',
    }),
  };
  const written = { ...usage, cacheWriteTokens: 1_500 };
  const taken: number[] = [];
  const h = given({ prices: dearer, model: () => ({ ...say('done'), usage: written }) });
  h.faulty.reserve = (asked) => {
    taken.push((asked.amounts.microUsd ?? 0) - 8_192 - 10 * (asked.amounts.tokens - 8_192));
    return h.store.reserve(asked);
  };
  const id = await h.start('go', { budget: { session: { microUsd: 1_000_000 } } });
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(taken).toEqual([0]);
  expect((await h.state(id)).budget.spent).toMatchObject({ microUsd: 3_000 + 13_500, tokens: 3_000 });
  expect(await events(h, id, 'model.completed')).toMatchObject([{ usage: written }]);
});

it('B156 at its limit it rests with what it has, says why, takes follow-ups, and goes on when it is raised', async () => {
  const h = given({
    prices,
    model: (request) => {
      const { length } = read(request).results;
      if (instructions(request).length > 1) return { ...say('with the message'), usage };
      return { ...(length < 4 ? calls(['pay', { what: `${length}` }]) : say('done')), usage };
    },
  });
  const id = await h.start('pay four times', {
    budget: { session: { microUsd: 8_000 }, turn: { steps: 10 } },
  });
  expect(await h.rest(id)).toBe('paused');

  expect(await events(h, id, 'budget.exhausted')).toMatchObject([
    {
      turn: 1,
      step: 3,
      scope: 'session',
      what: 'microUsd',
      limit: 8_000,
      spent: 6_000,
      code: 'budget.exhausted',
    },
  ]);
  expect(books(h)).toEqual(['pay: 0', 'pay: 1']);
  const seen = await h.done(h.api.inspect(id));
  expect(seen).toMatchObject({
    phase: 'paused',
    turn: { number: 1 },
    budget: { session: { microUsd: 8_000 } },
  });
  expect(seen.reason).toMatch(
    /^The session's budget .* Raise it: outlast budget ses_\w+ usd=…, or interrupt the turn\.$/,
  );
  expect(seen.budget.words).toBe('$0.0060, 6,000 tokens, 2 model calls, 0.0 s');
  expect((await h.done(h.api.send(id, 'hello'))).rule).toMatch(
    /^waits until its budget is raised, then joins turn 1/,
  );
  expect(await h.rest(id)).toBe('paused');
  expect(h.requests).toHaveLength(2);
  h.restart();
  await h.pass(3_600_000);
  expect(h.requests).toHaveLength(2);

  // Not enough: it says so again, and nothing is called.
  await h.done(h.api.setBudget(id, { session: { microUsd: 8_001 } }));
  expect(await h.rest(id)).toBe('paused');
  expect([h.requests.length, (await events(h, id, 'budget.exhausted')).length]).toEqual([2, 2]);
  await h.done(h.api.setBudget(id, { session: { microUsd: 100_000 } }));
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(await events(h, id, 'turn.started')).toHaveLength(1);
  expect((await responses(h, id)).length).toBe(1);
  expect(books(h).slice(0, 3)).toEqual(['pay: 0', 'pay: 1', 'pay: 2']);
});

it('B156 a reply that was cut off at what was left is no response: it rests, and counts what that cost', async () => {
  const bounds: (number | undefined)[] = [];
  const h = given({
    prices,
    model: (_request, { maxOutputTokens }) => {
      bounds.push(maxOutputTokens);
      return maxOutputTokens === 2_048
        ? { ...say('this is only ha'), finish: 'length', usage: { ...usage, outputTokens: 2_048 } }
        : { ...say('this is all of it'), usage };
    },
  });
  const id = await h.start('write', { budget: { session: { microUsd: 7_000 } } });
  expect(await h.rest(id)).toBe('paused');
  expect(await responses(h, id)).toEqual([]);
  expect((await h.state(id)).budget.spent).toMatchObject({ microUsd: 4_048, steps: 1 });
  await h.done(h.api.setBudget(id, { session: { microUsd: null } }));
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['this is all of it']);
  expect(bounds).toEqual([2_048, undefined]);
});

it('B156 an unpriced model is not called under a budget in money, and is never free', async () => {
  const h = given({ model: () => ({ ...say('done'), usage }) });
  const id = await h.start('go', { budget: { session: { microUsd: 1_000_000_000 } } });
  expect(await h.rest(id)).toBe('paused');
  expect(h.requests).toEqual([]);
  expect(await events(h, id, 'budget.exhausted')).toMatchObject([
    { code: 'budget.unpriced', what: 'microUsd' },
  ]);
  await h.done(h.api.setBudget(id, { session: { microUsd: null, tokens: 100_000 } }));
  expect(await h.rest(id)).toBe('awaiting_input');
  expect((await h.state(id)).budget.spent).toMatchObject({ microUsd: 0, tokens: 3_000, unpriced: 1 });
  expect(await events(h, id, 'model.completed')).toMatchObject([{ cost: null }]);
});

it('B156 while it rests it can be interrupted, asked, stopped, and given another turn', async () => {
  const h = given({
    prices,
    model: (request) => ({ ...say(request.isAside ? 'an answer' : 'done'), usage }),
  });
  const id = await h.start('go', { budget: { session: { steps: 0 } } });
  expect(await h.rest(id)).toBe('paused');
  expect((await h.done(h.api.ask(id, 'how far?'))).answer).toBe('an answer');
  expect(await h.done(h.api.interrupt(id))).toBe('awaiting_input');
  await h.done(h.api.setBudget(id, { session: { steps: 1 } }));
  await h.tell(id, 'again');
  expect(await responses(h, id)).toEqual(['done']);
  expect(await h.tell(id, 'and again')).toBe('paused');
  expect(await h.done(h.api.stop(id))).toMatchObject({ status: 'stopped' });
  expect(present(h.requests.at(-1))).not.toBe('');
});

it('without any limit nothing is written beside the log', async () => {
  const h = given({ prices, model: () => ({ ...say('done'), usage }) });
  let written = 0;
  for (const name of ['reserve', 'settle'] as const) {
    h.faulty[name] = () => {
      written++;
      throw new Error('nothing is limited');
    };
  }
  const id = await h.start('go');
  await h.rest(id);
  expect(written).toBe(0);
  expect(await events(h, id, 'model.completed')).toMatchObject([{ cost: { microUsd: ONE, source: 'test' } }]);
});

it('time is a budget as well: a call gets what is left, and downtime is free', async () => {
  const h = given({
    prices,
    model: async (request, { signal }) => {
      await h.clock.sleep(40_000, signal);
      signal.throwIfAborted();
      return { ...(read(request).results.length < 3 ? calls(['look', { what: 'x' }]) : say('done')), usage };
    },
  });
  const id = await h.start('go', { budget: { session: { ms: 60_000 } } });
  expect(await h.rest(id)).toBe('paused');
  await h.pass(3_600_000);
  const { spent, exhausted } = (await h.state(id)).budget;
  expect(exhausted).toMatchObject({ what: 'ms', limit: 60_000 });
  expect(spent.ms).toBeGreaterThanOrEqual(40_000);
  expect(spent.ms).toBeLessThan(61_000);
  await h.done(h.api.setBudget(id, { session: { ms: 600_000 } }));
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['done']);
});
