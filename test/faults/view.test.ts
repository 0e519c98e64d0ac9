/** What stands in the view of what has left it: words of people, the contract, files; and when it leaves. */

import { expect, it } from 'vitest';
import type { Prices } from '../../src/models/port.ts';
import { calls, say } from '../../src/testing/harness.ts';
import { FILE_TOOLS } from '../../src/tools/files/tools.ts';
import { events, given, present, responses } from './kit.ts';
import { limits, page, pastOf, reading, readPage, summed, work } from './pages.ts';

/** Room for a thousand tokens beside what is always there. */
const small = { windowTokens: 6_000 };
/** In three bytes each: the half of a window in characters is more than the whole of it in tokens. */
const huge = (said: string): string => said + '長'.repeat(20_000);

for (const first of ['Begin', huge('Begin: ')]) {
  it(`B006 what is too large at the least is said, and less is taken, after an order of ${first.length} characters`, async () => {
    const h = given({ limits: small, model: reading(0) });
    const id = await h.start(first);
    await h.rest(id);
    await h.tell(id, huge('Look at this: '));
    const failed = await events(h, id, 'turn.failed');
    expect(failed.map(({ code }) => code)).toEqual(Array(first === 'Begin' ? 1 : 2).fill('context.full'));
    const before = (await responses(h, id)).length;
    for (const text of ['What now?', 'And then?', 'What else?']) await h.tell(id, text);
    expect(await responses(h, id)).toHaveLength(before + 3);
    expect((await events(h, id, 'context.compacted')).length).toBeLessThan(5);
    expect(pastOf(work(h).at(-1))).toContain(
      first === 'Begin' ? '(#2, turn 1, order): Begin' : '(#2, turn 1, order, cut): Begin: 長',
    );
  });
}

it('B006 rules that are more than the window are shown by their beginnings, and recall has them whole', async () => {
  const rule = (n: number): string => `Always keep ${n} in mind: ${'x'.repeat(550)}`;
  const h = given({ limits: small, model: reading(0) });
  const id = await h.start('Begin');
  await h.rest(id);
  for (let n = 1; n <= 12; n++) await h.tell(id, rule(n));
  for (const text of ['What now?', 'And then?', 'What else?', 'Go on']) await h.tell(id, text);
  expect(await events(h, id, 'turn.failed')).toEqual([]);
  expect(await responses(h, id)).toHaveLength(17);
  expect((await events(h, id, 'context.compacted')).length).toBeLessThan(30);
  const past = pastOf(work(h).at(-1));
  expect(past).toContain('where it says "cut" only the beginning');
  const named = [...past.matchAll(/^- I\d+ \(#(\d+), turn \d+, rule(, cut)?\): (.*)$/gm)];
  expect(named).toHaveLength(12);
  for (const [at, [, seq, cut, text = '']] of named.entries()) {
    if (!cut) expect(text).toBe(rule(at + 1));
    expect(rule(at + 1).startsWith(text.replace(/…$/, ''))).toBe(true);
    const { passages } = await h.api.recall(id, { id: `#${seq}` });
    expect(passages.map((passage) => passage.text)).toEqual([rule(at + 1)]);
  }
});

it('B016 what is answered stands word for word, the newest of it, within a bounded share', async () => {
  const said = (n: number): string => `part ${n}: ${`see to ${n} in all its details, `.repeat(3)}please`;
  const h = given({ tools: [readPage], limits: { contextTokens: 60_000 }, model: reading(4) });
  const id = await h.start('Begin');
  await h.rest(id);
  for (let n = 2; n <= 30; n++) await h.tell(id, said(n));
  const lines = pastOf(work(h).at(-1)).split('\n');
  const answered = lines.filter((line) => /^- I\d+ .*, answered(, cut)?\): /.test(line));
  const whole = answered.filter((line) => !line.includes(', cut)'));
  expect(whole.length).toBeGreaterThan(1);
  for (const line of whole) expect(line).toContain(said(Number(/I(\d+)/.exec(line)?.[1])));
  expect(whole.join('').length / 3).toBeLessThan(60_000 * 0.01);
  // The beginnings of older ones stand before them, a dozen in all; of what is still older, how many.
  expect(answered).toHaveLength(12);
  expect(answered.slice(-whole.length)).toEqual(whole);
  expect(answered[0]).toMatch(/ \(#\d+, turn \d+, answered, cut\): part \d+: see to/);
  expect(lines.find((line) => line.includes('more are over'))).toMatch(/^- \d+ more are over/);
});

it('the contract stands in the compacted past as it was then; what became of a budget since, in the present', async () => {
  const h = given({ tools: [readPage], limits, model: reading(9) });
  const id = await h.start('Read', { persist: true, budget: { turn: {}, session: { tokens: 9_000_000 } } });
  await h.rest(id);
  const [line] = pastOf(work(h).at(-1)).match(/^The contract.*$/m) ?? [];
  expect(line).toContain('(#1): "Read", since ');
  expect(line).toContain('stays open for the next instruction');
  expect(line).toContain('budget of a turn: none, of the session: 9,000,000 tokens');
  expect(line).toContain('stepsPerTurn 40, ');
  expect(present(work(h).at(-1))).not.toContain('budget');
  await h.done(h.api.setBudget(id, { session: { tokens: 8_000_000 } }));
  await h.tell(id, 'And now?');
  const next = work(h).findLast((request) => pastOf(request).includes('9,000,000'));
  expect(present(next)).toContain('now budget of a turn: none, of the session: 8,000,000 tokens');
});

it('files that have left the view with their calls are named in the past, and those changed since in the present', async () => {
  const h = given({
    tools: FILE_TOOLS,
    limits,
    model: async (request) => {
      if (request.isCompaction) return summed(request);
      const n = work(h).length;
      return n > 30 ? say('done') : calls(['write_file', { path: `a/${n}.txt`, content: page(n) }]);
    },
  });
  const id = await h.start('Write');
  await h.rest(id);
  const last = work(h).at(-1);
  const past = pastOf(last);
  const named = [...past.matchAll(/^- a\/(\d+)\.txt \(added, #\d+\)$/gm)].map(([, n]) => Number(n));
  expect(named).toHaveLength(20);
  expect(named).toEqual([...named].sort((a, b) => b - a));
  expect(past).toMatch(/- \d+ more changes: list_files shows what stands there/);
  const since = /files changed after that past: (.*)/.exec(present(last))?.[1] ?? '';
  const changed = [...since.matchAll(/a\/(\d+)\.txt \(added, #\d+\)/g)].map(([, n]) => Number(n));
  expect(changed[0]).toBe(30);
  expect(changed.at(-1)).toBe((named[0] ?? 0) + 1);
});

it('where a provider has no discount for what it has cached, the view is compacted earlier', async () => {
  const first = async (cached: number): Promise<number> => {
    const prices: Prices = {
      price: async (_, { inputTokens, cachedTokens, outputTokens }) => ({
        microUsd: inputTokens - cachedTokens + cachedTokens * cached + outputTokens * 4,
        source: 'test',
      }),
    };
    const h = given({ tools: [readPage], limits: { stepsPerTurn: 60 }, model: reading(45), prices });
    const id = await h.start('Read');
    await h.rest(id);
    expect(await events(h, id, 'session.started')).toMatchObject([{ rates: { cached, out: 4 } }]);
    return (await events(h, id, 'context.compacted'))[0]?.tokensBefore ?? Number.POSITIVE_INFINITY;
  };
  const [usual, none] = [await first(0.1), await first(1)];
  expect(none).toBeLessThan(0.7 * usual);
});
