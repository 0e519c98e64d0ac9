/** What makes `outlast break` fail: V1 and V2, and how a second time counts (F3). */

import { describe, expect, it } from 'vitest';
import { kept } from './kept.ts';
import { results } from './report.ts';
import type { Outcome } from './score.ts';
import type { Boundary, Service, Strategy } from './terms.ts';
import { complaintsOf } from './verdict.ts';

const NOTHING = { duplicates: 0, transient: 0, lost: 0, suppressed: 0, untrue: 0, findings: [] };

type Place = readonly [Strategy, Service, Boundary];

const outcome = ([strategy, service, boundary]: Place, found: Partial<Outcome['verdict']> = {}): Outcome => ({
  cell: { strategy, service, boundary, variant: 'one' },
  ...{ run: 'h10r00001', seed: 1, hasFired: true, isStuck: false },
  verdict: { ...NOTHING, questions: 0, questionsMinimum: 0, ...found },
  ...{ extraCalls: 0, tokens: boundary === 'clean' ? 100 : 107, stepMs: null },
});

const given = (first: readonly Outcome[], again: readonly Outcome[] = [], killed: readonly Outcome[] = []) =>
  results({
    ...{ code: 'c', campaign: 'b', seed: 1, rounds: 1, quick: true, seconds: 1 },
    ...{ cells: first.map(({ cell }) => cell), runs: { first, again } },
    killed: { first: killed, again: killed },
  });
const complaints = (...lists: Parameters<typeof given>): readonly string[] =>
  complaintsOf(given(...lists), false);

const RETRY: Place = ['retry', 'blind', 'applied'];
const OURS: Place = ['outlast', 'blind', 'applied'];
const TWICE = { duplicates: 1, untrue: 1 };
const ASKED = { questions: 1, questionsMinimum: 1 };

describe('theory', () => {
  it('is kept where a strategy is wrong as predicted, and where it is right as predicted', () => {
    expect(complaints([outcome(RETRY, TWICE), outcome(['retry', 'blind', 'lost'])])).toEqual([]);
  });

  it.each([
    ['right where it was to be wrong', RETRY, {}],
    ['wrong in one way of two', RETRY, { duplicates: 1 }],
    ['wrong where it was to be right', ['retry', 'blind', 'lost'], TWICE],
    ['asking where it was not to ask', ['retry', 'blind', 'lost'], { questions: 1 }],
    ['not wrong without a piece of ours', ['no-mark', 'blind', 'applied'], {}],
  ] as const)('is not: %s', (_, place, found) => {
    const first = [outcome(['outlast', 'blind', 'clean']), outcome(place, found)];
    const missing = `${place.join(' ')} one: not as predicted, twice`;
    expect(complaints(first)).toContain(missing);
    expect(complaints(first, [outcome(place, found)])).toContain(missing);
    expect(complaints([], [], [outcome(place, found)])).toEqual([`${missing}, with SIGKILL`]);
    expect(complaintsOf(given(first), true)).toEqual([]);
  });

  it('is kept at the second time, which is named', () => {
    const found = given([outcome(RETRY), outcome(OURS, ASKED)], [outcome(RETRY, TWICE)]);
    expect(complaintsOf(found, false)).toEqual([]);
    expect(found.predictions).toEqual({ met: 2, missed: [], repeated: ['retry blind applied one'] });
    expect(found.strategies.retry).toMatchObject({ runs: 1, duplicates: 0 });
  });

  it('is not kept by a second time that did not happen', () => {
    expect(complaints([outcome(RETRY)], [{ ...outcome(RETRY, TWICE), hasFired: false }])).toHaveLength(1);
  });
});

describe('Outlast', () => {
  it.each([
    ['wrong', TWICE],
    ['asking twice', { questions: 2 }],
  ] as const)('fails once and for all: %s', (_, found) => {
    const bad = outcome(OURS, { ...ASKED, ...found });
    expect(complaints([bad], [outcome(OURS, ASKED)])).toEqual([expect.stringContaining('outlast at blind')]);
    expect(complaints([outcome(OURS, ASKED)], [], [bad])).toContain('outlast, killed with SIGKILL');
    expect(complaintsOf(given([bad]), true)).toHaveLength(1);
  });
});

it('keeps of each cell what it cost', () => {
  const found = given([outcome(['retry', 'blind', 'clean']), outcome(RETRY, TWICE)]);
  const { code, cells } = JSON.parse(kept(found));
  expect(code).toBe('c');
  expect(cells[1]).toMatchObject({ boundary: 'applied', duplicates: 1, extraTokens: 7 });
  expect(cells[0]).not.toHaveProperty('extraTokens');
});
