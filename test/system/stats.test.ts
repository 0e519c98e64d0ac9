// Owns: wrong guesses are repaired and counted. A one-shot that was done is reopened with all it had.
import { expect, test } from 'vitest';
import { calls, type read, say } from '../../src/testing/harness.ts';
import { FILE_TOOLS } from '../../src/tools/files/tools.ts';
import { events, given, instructions, responses, results, sandbox } from '../faults/kit.ts';

const DAY = 86_400_000;

/** Loads a client into the heap; later uses it. */
const working = {
  sandbox,
  model: (request: Parameters<typeof read>[0]) => {
    const [said, got] = [instructions(request), results(request)];
    const usage = { inputTokens: 1_000, outputTokens: 10, cachedTokens: 400 };
    if (got.length >= said.length) return { ...say(got.at(-1)?.text ?? ''), usage };
    const load =
      'class Client { n = 0; next() { return ++this.n; } } const client = new Client(); client.next()';
    return { ...calls(['code', { source: said.length === 1 ? load : 'client.next()' }]), usage };
  },
};

test('a follow-up reopens a one-shot that was done, with transcript and live objects, and the guess is counted', async () => {
  const h = given(working);
  const id = await h.start('February', { persist: false });
  expect(await h.rest(id)).toBe('completed');
  await h.pass(3_600_000);
  h.restart();
  expect(await h.done(h.api.send(id, 'March'))).toMatchObject({
    rule: 'reopens, starts turn 2',
    woke: 'parked',
  });
  expect(await h.rest(id)).toBe('completed');
  expect(await responses(h, id)).toEqual(['1', '2']);
  expect(instructions(h.requests.at(-1))).toEqual(['February', 'March']);

  const { closedTooEarly, keptForNothing } = await h.done(h.api.stats());
  const { woke } = await h.done(h.api.inspect(id));
  expect(closedTooEarly).toEqual({ sessions: 1, times: 1, wakeMs: woke?.ms, tokensReadAgain: 600 });
  expect(keptForNothing.sessions).toBe(0);
  // The log has it: whoever folds it counts the same.
  await h.tell(id, 'April');
  h.restart();
  expect((await h.done(h.api.stats())).closedTooEarly).toMatchObject({
    sessions: 1,
    times: 2,
    tokensReadAgain: 1_200,
  });
});

test('a one-shot that is reopened has its files as well, also when its machine is gone', async () => {
  const h = given({
    tools: FILE_TOOLS,
    model: (request) => {
      const [said, got] = [instructions(request), results(request)];
      if (got.length >= said.length) return say(got.at(-1)?.text ?? '');
      return said.length === 1
        ? calls(['write_file', { path: 'february.csv', content: 'two rows' }])
        : calls(['read_file', { path: 'february.csv' }]);
    },
  });
  const id = await h.start('February', { persist: false });
  expect(await h.rest(id)).toBe('completed');
  await h.pass(3_600_000);
  h.workspaces.hands.lose(id);
  h.restart();
  expect(await h.done(h.api.send(id, 'March'))).toMatchObject({
    rule: 'reopens, starts turn 2',
    woke: 'parked',
  });
  expect(await h.rest(id)).toBe('completed');
  expect((await responses(h, id)).at(-1)).toContain('two rows');
});

test('what was kept open and never spoken to again is counted, with what that cost', async () => {
  const h = given(working);
  const [stopped, forgotten, used] = [await h.start('a'), await h.start('b'), await h.start('c')];
  for (const id of [stopped, forgotten, used]) await h.rest(id);
  await h.tell(used, 'more');
  await h.done(h.api.stop(stopped));
  await h.pass(3_600_000);
  expect((await h.done(h.api.stats())).keptForNothing).toMatchObject({ sessions: 1, heldMbMinutes: 0 });
  h.clock.elapse(8 * DAY);
  await h.until(async () => (await events(h, used, 'session.archived')).length === 1, 'the archive');

  const seen = await h.done(h.api.stats());
  expect(seen).toMatchObject({ sessions: 3, at: { resident: 0, parked: 0, archived: 3 } });
  expect(seen.keptForNothing.sessions).toBe(2);
  // Some ten minutes of some four megabytes, until it was parked.
  expect(seen.keptForNothing.heldMbMinutes).toBeGreaterThan(38);
  expect(seen.keptForNothing.heldMbMinutes).toBeLessThan(50);
  expect(seen.keptForNothing.storedMbDays).toBeGreaterThan(0);
  expect(seen.closedTooEarly.sessions).toBe(0);
});
