// Owns: slots count work. A full house queues with a visible place, and nothing but work holds a slot.
import { expect, test } from 'vitest';
import { calls, gate, say, tool } from '../../src/testing/harness.ts';
import { events, given, instructions, responses, results } from '../faults/kit.ts';

const first = (request: Parameters<typeof instructions>[0]) => instructions(request)[0] ?? '';

test('a full house queues in order, each place is visible, and everybody gets a turn', async () => {
  const held = gate();
  const h = given({ slots: 2, model: (request) => held.pass(say(first(request))) });
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    ids.push(await h.start(`work ${n}`));
    await h.pass(10);
  }

  const rows = await h.done(h.api.list());
  expect(rows.map(({ phase, place }) => [phase, place])).toEqual([
    ['working', 3],
    ['working', 2],
    ['working', 1],
    ['working', undefined],
    ['working', undefined],
  ]);
  expect(await h.done(h.api.slots())).toEqual({ slots: 2, isOwn: false, working: 2, waiting: 3 });
  expect(await h.done(h.api.inspect(ids[4] as string))).toMatchObject({
    ...{ phase: 'working', place: 3, reason: 'Waits for a slot: 3rd in the queue.', turn: null },
  });
  expect(held.reached).toBe(2);
  // Nobody holds it, and nobody has to look at it until its turn comes.
  expect(await h.store.row(ids[4] as never)).toMatchObject({ dueAt: null });

  held.open();
  for (const id of ids) expect(await h.rest(id)).toBe('awaiting_input');
  const order = h.requests.map(first);
  expect(order).toEqual(['work 0', 'work 1', 'work 2', 'work 3', 'work 4']);
  expect(await events(h, ids[4] as string, 'session.queued')).toMatchObject([{ place: 3 }]);
  expect(await events(h, ids[4] as string, 'session.admitted')).toHaveLength(1);
  expect(await h.done(h.api.slots())).toMatchObject({ working: 0, waiting: 0 });
});

test('a message to a session that waits for a slot is durable, says so, and stands before its first step', async () => {
  const held = gate();
  const h = given({ slots: 1, model: (request) => held.pass(say(instructions(request).join(', '))) });
  const busy = await h.start('busy');
  await h.until(() => held.reached === 1, 'work');
  const id = await h.start('this');
  await h.until(async () => (await events(h, id, 'session.queued')).length === 1, 'a place in the queue');
  const receipt = await h.done(h.api.send(id, 'and that', { key: 'k' }));
  expect(receipt.rule).toBe('waits for a slot, then starts turn 1');
  h.restart();
  expect(await h.done(h.api.send(id, 'and that', { key: 'k' }))).toEqual(receipt);
  held.open();
  await h.rest(busy);
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['this, and that']);
});

test('stop, pause and decide work at once on a session that is queued, and give up its place', async () => {
  const held = gate();
  const h = given({ slots: 1, model: (request) => held.pass(say(first(request))) });
  await h.start('busy');
  await h.until(() => held.reached === 1, 'work');
  const [paused, stopped, last] = [await h.start('paused'), await h.start('stopped'), await h.start('last')];
  for (const id of [paused, stopped, last])
    await h.until(async () => (await events(h, id, 'session.queued')).length === 1, 'a place in the queue');
  expect(await h.done(h.api.stop(stopped))).toMatchObject({ status: 'stopped', unknown: [] });
  expect(await h.done(h.api.pause(paused))).toBe('paused');
  expect((await h.done(h.api.inspect(last))).place).toBe(1);
  await h.done(h.api.resume(paused));
  await h.until(async () => (await h.done(h.api.inspect(paused))).place === 2, 'a place behind the other');
  held.open();
  await h.rest(paused);
  expect(h.requests.map(first)).toEqual(['busy', 'last', 'paused']);
});

test('B051 B119 waiting holds no slot: for a person, for an instant, for input', async () => {
  const h = given({
    slots: 1,
    limits: { effectTimeoutMs: 1_000 },
    sandbox: (await import('../faults/kit.ts')).sandbox,
    model: (request) => {
      const said = first(request);
      if (results(request).length > 0 || said === 'say') return say(`done: ${said}`);
      const nap = "await new Promise((r) => setTimeout(r, 30_000)); 'woke'";
      return said === 'post' ? calls(['post', { what: 'it' }]) : calls(['code', { source: nap }]);
    },
  });
  h.world.loseAnswers.set('post', 1);
  const asks = await h.start('post');
  expect(await h.rest(asks)).toBe('awaiting_decision');
  const naps = await h.start('nap');
  // Its timer is so near that its holder stays; the slot does not.
  await h.until(async () => (await h.state(naps)).heap.pending.length > 0, 'a timer');
  const says = await h.start('say');
  await h.rest(says);
  expect((await h.state(naps)).heap.pending).toHaveLength(1);
  await h.rest(naps);
  await h.done(h.api.decide(asks, 'd1', 'done'));
  await h.rest(asks);
  for (const id of [asks, naps, says]) {
    expect((await responses(h, id)).length).toBe(1);
    expect(await events(h, id, 'session.queued')).toEqual([]);
  }
});

test('B051 the slot of a dead worker is free once its lease lapses, and what it had sent is cleared up without one', async () => {
  const held = gate();
  const hang = tool(
    'hang',
    { kind: 'queryable', lateMs: 0 },
    () => held.pass({ status: 'done', result: 1 }),
    {
      find: async () => ({ status: 'done', result: 7 }),
    },
  );
  const h = given({
    slots: 1,
    tools: [hang],
    model: (request) =>
      first(request) !== 'hang' || results(request).length > 0 ? say('done') : calls(['hang', {}]),
  });
  const dead = await h.start('hang');
  await h.until(() => held.reached === 1, 'a request that left');
  const next = await h.start('next');
  await h.until(async () => (await events(h, next, 'session.queued')).length === 1, 'a place in the queue');
  h.restart();
  await h.rest(next);
  await h.rest(dead);
  expect(await events(h, dead, 'effect.reconciled')).toHaveLength(1);
  expect(await responses(h, dead)).toEqual(['done']);
  expect(await h.done(h.api.slots())).toMatchObject({ working: 0, waiting: 0 });
});

test('B051 failing to start frees the slot', async () => {
  const h = given({
    slots: 1,
    model: (request) => {
      if (first(request) === 'bad') throw new Error('no such model');
      return say('done');
    },
  });
  const bad = await h.start('bad');
  const good = await h.start('good');
  expect(await h.rest(bad)).toBe('awaiting_input');
  expect(await h.rest(good)).toBe('awaiting_input');
  expect(await responses(h, good)).toEqual(['done']);
});

test('the number is the owner’s own where it has one, and raising it lets the next one in', async () => {
  const held = gate();
  const h = given({ slots: 1, model: (request) => held.pass(say(first(request))) });
  const ids = [await h.start('one'), await h.start('two')];
  await h.until(async () => (await events(h, ids[1] as string, 'session.queued')).length === 1, 'a queue');
  expect(await h.done(h.api.setSlots(2))).toMatchObject({ slots: 2, isOwn: true });
  await h.until(() => held.reached === 2, 'both at work');
  expect(await h.done(h.api.setSlots(null))).toMatchObject({ slots: 1, isOwn: false, working: 2 });
  await expect(h.done(h.api.setSlots(0))).rejects.toMatchObject({ code: 'budget.invalid' });
  held.open();
  for (const id of ids) await h.rest(id);
});
