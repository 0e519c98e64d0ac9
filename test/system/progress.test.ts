/** `progress`: a line for the people who watch. It is noted and answered at once, and starts nothing. */

import { expect, it } from 'vitest';
import { calls, say } from '../../src/testing/harness.ts';
import { events, given, responses, results, sandbox } from '../faults/kit.ts';

it('is noted with its origin and answered in the same step, from a call as from code', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got.map(({ status, text }) => `${status} ${text}`).join(' | '));
      const source = "const n = [await tools.progress({ text: 'from code' })]; n";
      return calls(['progress', { text: 'from a call' }], ['code', { source }], ['progress', { text: '' }]);
    },
  });
  const id = await h.start('tell me');
  await h.rest(id);

  expect(await events(h, id, 'progress.noted')).toMatchObject([
    { text: 'from a call', turn: 1, step: 1, origin: { by: 'call', call: 'call_1' } },
    { text: 'from code', turn: 1, step: 1, origin: { by: 'cell', cell: 'c1' } },
  ]);
  expect(await responses(h, id)).toEqual([
    expect.stringMatching(/^done noted \| done \[ null \] \| refused progress takes/),
  ]);
  expect(h.requests).toHaveLength(2);
});

it('what code in the background notes wakes nobody and is no response', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      if (results(request).length > 0) return say('started');
      const source = "setTimeout(() => tools.progress({ text: 'half way' }), 120_000); 'started'";
      return calls(['code', { source }]);
    },
  });
  const id = await h.start('tell me');
  await h.rest(id);
  await h.pass(300_000);

  expect(await events(h, id, 'progress.noted')).toMatchObject([{ text: 'half way', turn: 1 }]);
  expect(await h.store.row(id)).toMatchObject({ phase: 'awaiting_input', lastResponse: 'started', turn: 1 });
  expect(await events(h, id, 'message.read')).toHaveLength(1);
  expect(h.requests).toHaveLength(2);
});

it('a one-shot task is not completed while its code is still to go on; a task that is kept says when', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      if (results(request).length > 0) return say('started');
      return calls(['code', { source: "setTimeout(() => console.log('late'), 120_000); 'started'" }]);
    },
  });
  const kept = await h.start('tell me');
  await h.until(async () => (await responses(h, kept)).length === 1, 'a response');
  const due = (await h.state(kept)).heap.pending.map((call) => call.on === 'timer' && call.due);
  expect(await h.api.inspect(kept)).toMatchObject({ phase: 'awaiting_input', wakesAt: due[0] });

  const once = await h.start('tell me once', { persist: false });
  await h.until(async () => (await responses(h, once)).length === 1, 'a response');
  expect(await h.api.inspect(once)).toMatchObject({ phase: 'sleeping' });
  expect(await h.rest(once)).toBe('completed');
  expect(await h.api.inspect(once)).toMatchObject({ wakesAt: null });
  expect(await events(h, once, 'timer.fired')).toHaveLength(1);
});

it.each([
  ['an answer', "tools.look({ what: 'x' }).then(() => { for (;;) console.log('more and more') }); 'started'"],
  ['a timer', "setTimeout(() => { for (;;) console.log('more and more') }, 60_000); 'started'"],
])(
  'code in the background that runs away on %s is aborted once, and is not let in again',
  async (_what, source) => {
    const h = given({
      sandbox,
      model: (request) => (results(request).length > 0 ? say('started') : calls(['code', { source }])),
    });
    const id = await h.start('tell me');
    await h.rest(id);
    await h.pass(300_000);

    expect(await events(h, id, 'cell.aborted')).toMatchObject([{ cell: 'c1', reason: 'output' }]);
    expect(await h.api.inspect(id)).toMatchObject({ phase: 'awaiting_input', wakesAt: null });
    expect((await h.state(id)).heap.pending).toEqual([]);
  },
);
