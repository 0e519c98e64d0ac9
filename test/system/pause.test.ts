/** `pause` holds everything that begins: turns, timers and code. What was sent is still cleared up. */

import { expect, it } from 'vitest';
import { calls, gate, say, tool } from '../../src/testing/harness.ts';
import { events, given, responses, results, sandbox } from '../faults/kit.ts';

it('holds timers of calls and of code, and resume goes on with both', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got.map(({ status, text }) => `${status} ${text}`).join(' | '));
      const source = 'let n = 1; await new Promise((r) => setTimeout(r, 60_000)); n + 1';
      return calls(['sleep', { seconds: 60 }], ['code', { source }]);
    },
  });
  const id = await h.start('wait');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 2, 'two timers');
  expect(await h.done(h.api.pause(id))).toBe('paused');
  await h.pass(1_800_000);
  expect(await events(h, id, 'timer.fired')).toEqual([]);
  expect(await h.store.row(id)).toMatchObject({ phase: 'paused' });
  h.restart();
  await h.pass(1_800_000);
  expect(await events(h, id, 'timer.fired')).toEqual([]);
  await h.done(h.api.resume(id));
  await h.rest(id);

  expect(await events(h, id, 'timer.fired')).toHaveLength(2);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^done Slept 36\d\d s.* \| done 2$/)]);
});

it('takes in the answer of a request that had left, and lets code see it when it is resumed', async () => {
  const held = gate();
  const slow = tool('slow', { kind: 'blind' }, () => held.pass({ status: 'done', result: 41 }));
  const h = given({
    sandbox,
    tools: [slow],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got[0]?.text ?? '');
      return calls([
        'code',
        { source: "const n = await tools.slow({}); await tools.pay({ what: 'x' }); n + 1" },
      ]);
    },
  });
  const id = await h.start('go');
  await h.until(() => held.reached === 1, 'a request');
  await h.done(h.api.pause(id));
  held.open();
  await h.pass(60_000);
  expect(await events(h, id, 'effect.settled')).toHaveLength(1);
  expect((await events(h, id, 'cell.committed')).map(({ moved }) => moved.by)).toEqual(['run']);
  expect(h.world.books).toEqual([]);
  await h.done(h.api.resume(id));
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['42']);
  expect(h.world.books).toHaveLength(1);
});
