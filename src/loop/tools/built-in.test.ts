import { expect, test } from 'vitest';
import { initialState } from '../../core/evolve.ts';
import type { CallId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import type { Json } from '../../lib/json.ts';
import { tool } from '../../testing/harness.ts';
import { BUILT_IN } from './built-in.ts';
import { registry } from './registry.ts';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const s: State = { ...initialState, at: NOW };

const planned = (name: string, args: Json) => {
  const plan = registry([])
    .verb(name)
    ?.plan(s, { by: 'call', call: 'c1' as CallId }, args);
  if (!plan) throw new Error(`there is no ${name}`);
  return plan;
};

const refusal = (name: string, args: Json): string => {
  const plan = planned(name, args);
  return 'refused' in plan ? plan.refused.message : `taken: ${JSON.stringify(plan)}`;
};

test('U1: planned twice on the same state, it is the same event', () => {
  const asked: Readonly<Record<string, Json>> = {
    ask_person: { question: 'Which?' },
    progress: { text: 'half way' },
    sleep: { seconds: 3 },
  };
  expect(Object.keys(asked)).toEqual(BUILT_IN.map(({ spec }) => spec.name));
  for (const [name, args] of Object.entries(asked)) {
    const plan = planned(name, args);
    expect('kind' in plan && plan).toEqual(planned(name, args));
  }
});

test.each<[Json, string]>([
  [{ seconds: 90 }, '2026-11-30T12:01:30.000Z'],
  [{ seconds: 0.0001 }, '2026-11-30T12:00:00.001Z'],
  [{ until: '2026-12-24T18:00:00+01:00' }, '2026-12-24T17:00:00.000Z'],
  [{ until: '2026-12-24T18:00+0100' }, '2026-12-24T17:00:00.000Z'],
  [{ until: '2026-12-24T17:00:00.25Z' }, '2026-12-24T17:00:00.250Z'],
  [{ seconds: 365 * 86_400 }, '2027-11-30T12:00:00.000Z'],
  // Over already: there is nothing to wait for, and that is no mistake.
  [{ until: '2020-01-01T00:00:00Z' }, '2026-11-30T12:00:00.001Z'],
])('sleep %j is due at %s', (args, due) => {
  expect(planned('sleep', args)).toEqual({
    kind: 'timer.set',
    timer: 't1',
    due: Date.parse(due),
    origin: { by: 'call', call: 'c1' },
  });
});

test.each<[Json, string]>([
  [{}, 'one of the two is needed'],
  [null, 'one of the two is needed'],
  [{ seconds: 1, until: '2026-12-24T18:00:00Z' }, 'one of the two is needed'],
  [{ seconds: '60' }, 'that is no number, or no instant with a zone'],
  [{ seconds: null }, 'that is no number, or no instant with a zone'],
  [{ seconds: Number.NaN }, 'that is no number, or no instant with a zone'],
  [{ seconds: Number.POSITIVE_INFINITY }, 'that is no number, or no instant with a zone'],
  [{ seconds: -1 }, 'nobody can wait for less than nothing'],
  [{ until: '2026-12-24T18:00:00' }, 'that is no number, or no instant with a zone'],
  [{ until: '2026-12-24' }, 'that is no number, or no instant with a zone'],
  [{ until: 'tomorrow Z' }, 'that is no number, or no instant with a zone'],
  [{ until: '5Z' }, 'that is no number, or no instant with a zone'],
  [{ until: 1_800_000_000_000 }, 'that is no number, or no instant with a zone'],
  [{ seconds: 365 * 86_400 + 1 }, 'a year is the longest'],
  [{ until: '2028-01-01T00:00:00Z' }, 'a year is the longest'],
])('sleep %j is refused in words', (args, why) => {
  expect(refusal('sleep', args)).toBe(`sleep takes {"seconds": N} or {"until": "…"}; ${why}.`);
});

test('a question without words, or with choices that nobody could tell apart, is refused', () => {
  for (const question of [undefined, 7, '', ' \n', 'x'.repeat(4_001)] as Json[])
    expect(refusal('ask_person', { question })).toMatch(/^ask_person takes/);
  for (const choices of [
    'blue',
    [''],
    ['a', 'a'],
    ['a', 7],
    ['x'.repeat(201)],
    Array.from({ length: 21 }, String),
  ] as Json[])
    expect(refusal('ask_person', { question: 'Which?', choices })).toMatch(/^The choices of ask_person/);
  expect(planned('ask_person', { question: ' half \ud800 ', choices: ['\ud800'] })).toMatchObject({
    question: 'half \ufffd',
    choices: ['\ufffd'],
  });
});

test('progress without a line is refused', () => {
  for (const text of [undefined, 7, '', ' ', 'x'.repeat(2_001)] as Json[])
    expect(refusal('progress', { text })).toMatch(/^progress takes/);
});

test('what is built in is offered behind `code` and ahead of all else, and its names are taken', () => {
  const own = (name: string) => tool(name, { kind: 'read' }, async () => ({ status: 'done', result: null }));
  expect(registry([own('zoo'), own('ape')]).specs.map(({ name }) => name)).toEqual([
    'code',
    'ask_person',
    'progress',
    'sleep',
    'recall',
    'ape',
    'zoo',
  ]);
  for (const { spec } of BUILT_IN)
    expect(() => registry([own(spec.name)])).toThrow(`tools[0]: the name "${spec.name}" is taken.`);
});

test('ask_person has an end only when it is given one', () => {
  const until = (args: object) => {
    const plan = planned('ask_person', { question: 'Which?', ...args });
    return 'kind' in plan && plan.kind === 'decision.requested' ? plan.expiresAt : undefined;
  };
  expect([until({}), until({ seconds: 90 })]).toEqual([null, NOW + 90_000]);
  for (const seconds of [0, -1, '90', Number.NaN, 400 * 86_400])
    expect(refusal('ask_person', { question: 'Which?', seconds })).toContain('The seconds of ask_person');
});
