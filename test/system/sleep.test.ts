/** `sleep`, asked for by the model itself: an instant in the log, and nobody who waits for it. */

import { expect, it } from 'vitest';
import type { SessionId } from '../../src/core/ids.ts';
import type { Json } from '../../src/lib/json.ts';
import { calls, type Harness, say } from '../../src/testing/harness.ts';
import { events, given, instructions, notes, present, responses, results, sandbox } from '../faults/kit.ts';

const HOUR_MS = 3_600_000;

/** A session that has gone to sleep in its first step. */
async function asleep(input: Json): Promise<{ h: Harness; id: SessionId; due: number }> {
  const h = given({
    model: (request) => {
      const got = results(request);
      if (got.length === 0) return calls(['sleep', input]);
      return say([...got.map(({ text }) => text), ...instructions(request).slice(1)].join(' | '));
    },
  });
  const id = await h.start('wait');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  const [set] = await events(h, id, 'timer.set');
  return { h, id, due: set?.due ?? 0 };
}

it('B119 a long sleep holds no lease and no memory: a row says when it is due', async () => {
  const { h, id, due } = await asleep({ seconds: 6 * 3600 });
  let renewals = 0;
  h.faulty.renew = async (...args) => {
    renewals++;
    return h.store.renew(...args);
  };
  await h.pass(2 * HOUR_MS);
  expect(await h.store.row(id)).toMatchObject({ phase: 'sleeping', dueAt: due });
  expect(await h.done(h.api.inspect(id))).toMatchObject({ phase: 'sleeping' });
  expect(await h.store.acquire(id, 'probe', 1)).toMatchObject({ status: 'acquired', clean: true });
  expect([renewals, h.requests.length]).toEqual([0, 1]);
  await h.pass(5 * HOUR_MS);

  const [fired] = await events(h, id, 'timer.fired');
  expect((fired?.at ?? 0) - due).toBeLessThan(60_000);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^Slept 216\d\d s, until 20\S+Z\.$/)]);
});

it('sleeps until an instant, and costs the model one call', async () => {
  const h = given({
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got[0]?.text ?? '');
      return calls(['sleep', { until: new Date(h.clock.now() + 5_000).toISOString() }]);
    },
  });
  const id = await h.start('wait');
  await h.rest(id);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^Slept 5 s, until/)]);
  expect(h.requests).toHaveLength(2);
});

it('B130 a sleep that was over while nobody was there ends once, late', async () => {
  const { h, id } = await asleep({ seconds: 3_600 });
  h.end();
  h.clock.elapse(24 * HOUR_MS);
  expect(await events(h, id, 'timer.fired')).toEqual([]);
  h.restart();
  await h.rest(id);
  await h.pass(3 * HOUR_MS);

  expect(await events(h, id, 'timer.fired')).toHaveLength(1);
  // It says how long it really was.
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^Slept 864\d\d s/)]);
});

it('B095 a message gives a sleeper a turn at once, and the timer still comes, as a message of its own', async () => {
  const h = given({
    model: (request) => {
      const got = results(request);
      if (got.length === 0) return calls(['sleep', { seconds: 7_200 }]);
      const over = JSON.stringify(request.messages).includes('Timer t1: it is');
      return say(over ? 'it is time' : `${got[0]?.status}: ${got[0]?.text}`);
    },
  });
  const id = await h.start('wait');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.pass(HOUR_MS / 2);
  expect(await h.tell(id, 'and?')).toBe('awaiting_input');
  expect(await responses(h, id)).toEqual([
    expect.stringMatching(/^suspended: Not over yet: timer t1 goes on until 20\S+Z, and you will be told\.$/),
  ]);
  expect(present(h.requests[1])).toMatch(/\ntimer t1: until 20/);
  h.restart();
  await h.pass(2 * HOUR_MS);
  await h.rest(id);

  expect((await responses(h, id)).slice(1)).toEqual(['it is time']);
  expect(await events(h, id, 'timer.fired')).toHaveLength(1);
  expect(await events(h, id, 'message.read')).toHaveLength(3);
  expect(present(h.requests.at(-1))).not.toMatch(/timer t1/);
});

it('a message for later wakes no sleeper', async () => {
  const { h, id, due } = await asleep({ seconds: 3_600 });
  await h.done(h.api.send(id, 'afterwards', { when: 'later' }));
  await h.pass(HOUR_MS / 2);
  expect([h.requests.length, (await h.store.row(id))?.dueAt]).toEqual([1, due]);
  await h.pass(HOUR_MS);
  expect(await responses(h, id)).toEqual([
    expect.stringMatching(/^Slept 36\d\d s/),
    expect.stringMatching(/afterwards$/),
  ]);
});

it.each(['interrupt', 'stop'] as const)('%s drops the timer: nothing comes of it later', async (verb) => {
  const { h, id } = await asleep({ seconds: 3_600 });
  await h.done<unknown>(h.api[verb](id));
  if (verb === 'stop') await h.done(h.api.reopen(id));
  expect((await h.state(id)).timers).toEqual([]);
  expect(await h.rest(id)).toBe('awaiting_input');
  expect((await h.store.row(id))?.dueAt).toBeNull();
  await h.pass(2 * HOUR_MS);
  expect(await events(h, id, 'timer.fired')).toEqual([]);
  expect(h.requests).toHaveLength(1);
  await h.tell(id, 'hello');
  expect(results(h.requests.at(-1)).map(({ status }) => status)).toEqual(['interrupted']);
});

it('stop drops a timer too that the model was told of', async () => {
  const h = given({
    model: (request) => (results(request).length === 0 ? calls(['sleep', { seconds: 3_600 }]) : say('well')),
  });
  const id = await h.start('wait');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.tell(id, 'and?');
  expect((await h.state(id)).timers).toMatchObject([{ id: 't1', isSuspended: true }]);
  await h.done(h.api.stop(id));
  await h.done(h.api.reopen(id));
  await h.pass(2 * HOUR_MS);
  expect(await events(h, id, 'timer.fired')).toEqual([]);
  expect(h.requests).toHaveLength(2);
});

it('what cannot be waited for is refused to the model in words, and to code as an error', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got.map(({ status, text }) => `${status}: ${text}`).join('\n'));
      const source = 'await tools.sleep({ seconds: 1 }); await tools.sleep({ seconds: -1 })';
      return calls(['sleep', { seconds: -5 }], ['code', { source }]);
    },
  });
  const id = await h.start('wait');
  await h.rest(id);
  expect((await responses(h, id))[0]?.split('\n')).toEqual([
    expect.stringMatching(/^refused: sleep takes .*less than nothing.*\[call\.invalid\]$/),
    expect.stringMatching(/^failed: EffectError \[call\.invalid\]: sleep takes .*less than nothing/),
    expect.stringContaining('c1:1'),
  ]);
  expect(await events(h, id, 'timer.set')).toHaveLength(1);
});

it('code that sleeps goes on from that line in another process, and `now` gives the model a turn meanwhile', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(notes(request).at(-1) ?? got[0]?.text ?? '');
      return calls(['code', { source: 'let n = 41; await tools.sleep({ seconds: 7_200 }); n + 1' }]);
    },
  });
  const id = await h.start('wait');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.done(h.api.send(id, 'and?', { when: 'now' }));
  await h.rest(id);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^The cell waits until its timer t1\./)]);
  h.restart();
  await h.pass(3 * HOUR_MS);
  await h.rest(id);
  expect((await responses(h, id)).at(-1)).toMatch(/Cell c1, which was suspended, has ended: done\. 42/);
});

it('B119 a long sleep gives up the heap, which is opened again only when the work goes on', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request).length;
      if (got === 0) return calls(['code', { source: 'const rows = [1, 2]; rows.length' }]);
      if (got === 1) return calls(['sleep', { seconds: 6 * 3_600 }]);
      return got === 2 ? calls(['code', { source: 'rows' }]) : say(results(request)[2]?.text ?? '');
    },
  });
  const id = await h.start('load, and wait');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.pass(HOUR_MS);
  expect(await h.done(h.api.inspect(id))).toMatchObject({ phase: 'sleeping', residency: 'parked' });
  h.restart();
  await h.pass(HOUR_MS);
  expect(await events(h, id, 'heap.restored')).toHaveLength(1);
  expect(await events(h, id, 'session.parked')).toHaveLength(1);
  await h.pass(5 * HOUR_MS);
  await h.rest(id);

  expect(await responses(h, id)).toEqual(['[ 1, 2 ]']);
  expect((await events(h, id, 'heap.restored')).map(({ rung }) => rung)).toEqual(['fresh', 'exact']);
});
