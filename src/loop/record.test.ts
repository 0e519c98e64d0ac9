import { describe, expect, it } from 'vitest';
import { sequence } from '../testing/facts.ts';
import type { Performed, Performer } from './perform.ts';
import { record } from './record.ts';

const by = { session: 'ses_x', ports: { model: { name: 'm' } } } as unknown as Performer;
const exhausted = {
  ...({ scope: 'session', what: 'microUsd', limit: 10, spent: 9, needed: 5 } as const),
  code: 'budget.exhausted',
} as const;
const working = sequence().started().acquired(1).message('x').turn();
const { budget } = working.state;
const call = { do: 'generate', turn: 1, step: 1, attempt: 1 } as const;
const refused: Performed = { do: 'generate', call, budget, came: { exhausted } };
const usage = { inputTokens: 4, outputTokens: 1, cachedTokens: 0 };
const cut: Performed = {
  ...{ do: 'generate', call, budget },
  came: { reply: { parts: [], finish: 'length', usage }, cost: null, ms: 5, cut: exhausted },
};

describe('a turn that comes to rest on a budget', () => {
  const kinds = (performed: Performed, s = working) =>
    record(performed, s.state, by).events.map(({ kind }) => kind);

  it('is written down while nothing of its budget has changed', () => {
    expect([kinds(refused), kinds(cut)]).toEqual([['budget.exhausted'], ['budget.exhausted']]);
  });

  it('is written down once, also when the answer to that commit was lost', () => {
    const [rests] = record(refused, working.state, by).events;
    const [restsCut] = record(cut, working.state, by).events;
    expect(kinds(refused, working.event(rests as never))).toEqual([]);
    expect(kinds(cut, working.event(restsCut as never))).toEqual([]);
  });

  it('is asked for again when the budget was raised in between; what a reply has cost is kept', () => {
    const raised = { kind: 'budget.set', turn: {}, session: { microUsd: 100 }, by: 'ann' } as const;
    expect(kinds(refused, working.event(raised))).toEqual([]);
    expect(kinds(cut, working.event(raised))).toEqual(['budget.exhausted']);
    const [rests] = record(refused, working.state, by).events;
    expect(kinds(refused, working.event(rests as never).event(raised))).toEqual([]);
  });
});
