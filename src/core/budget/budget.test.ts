import { describe, expect, it } from 'vitest';
import { checkLog } from '../../projections/invariant/invariant.ts';
import { summarize } from '../../projections/summary.ts';
import { sequence } from '../../testing/facts.ts';
import { resume, ruleOf, send } from '../decide.ts';
import type { EventBody } from '../event.ts';
import { next } from '../next.ts';
import { phase } from '../phase.ts';
import {
  amountInWords,
  budgetInWords,
  changed,
  type Exhaustion,
  exhaustionInWords,
  NOTHING_SPENT,
  spentInWords,
} from './budget.ts';
import { setBudget } from './decide.ts';

type Completed = Extract<EventBody, { kind: 'model.completed' }>;

const exhaustion: Exhaustion = {
  ...{ scope: 'session', what: 'microUsd', limit: 2_000_000, spent: 1_950_000, needed: 130_000 },
  code: 'budget.exhausted',
};

const completed = (over: Partial<Completed> = {}): Completed => ({
  ...{ kind: 'model.completed', turn: 1, step: 1, model: 'm', finish: 'tool-calls' },
  parts: [{ type: 'tool-call', call: 'call_1' as never, tool: 'look', input: {} }],
  usage: { inputTokens: 1_000, outputTokens: 200, cachedTokens: 0 },
  ...{ cost: { microUsd: 12_345, source: 'x' }, ms: 700 },
  ...over,
});

describe('what was spent', () => {
  it('is added up for turn and session from what each call says', () => {
    const s = sequence().started().acquired(1).message('x').turn().event(completed());
    const sum = { microUsd: 12_345, tokens: 1_200, steps: 1, ms: 700, unpriced: 0, lost: 0 };
    expect([s.state.budget.spent, s.state.turn?.spent]).toEqual([sum, sum]);
  });

  it('a call without a price is unpriced, never free', () => {
    const s = sequence()
      .started()
      .acquired(1)
      .message('x')
      .turn()
      .event(completed({ cost: null }));
    expect(s.state.budget.spent).toMatchObject({ microUsd: 0, unpriced: 1 });
    expect(spentInWords(s.state.budget.spent)).toBe('1,200 tokens, 1 model call, 0.7 s; 1 call unpriced');
  });

  it('counts a generation that its worker took with it, and no other takeover', () => {
    const working = sequence().started().acquired(1).message('x').turn();
    expect(working.lost().state.budget.spent.lost).toBe(1);
    expect(working.acquired(2, true).state.budget.spent.lost).toBe(0);
    expect(working.event(completed()).lost().state.budget.spent.lost).toBe(0);
    const rests = { kind: 'budget.exhausted', turn: 1, step: 1, cut: null, ...exhaustion } as const;
    expect(working.event(rests).lost().state.budget.spent.lost).toBe(0);
  });

  it('counts the time of an effect while it was waited for, and no downtime', () => {
    const sent = sequence()
      .started()
      .acquired(1)
      .message('x')
      .turn()
      .effect({ kind: 'keyed', retentionMs: 1 });
    const before = sent.state.budget.spent.ms;
    expect(sent.settled({ ok: true }).state.budget.spent.ms - before).toBe(60_000);
    expect(sent.lost().settled({ ok: true }).state.budget.spent.ms - before).toBe(0);
  });
});

describe('a turn that rests on a budget', () => {
  const working = sequence().started().acquired(1).message('x').turn();
  const s = working.event({ kind: 'budget.exhausted', turn: 1, step: 1, cut: null, ...exhaustion });

  it('is paused, calls nothing, and keeps the turn as it is', () => {
    expect(phase(s.state)).toBe('paused');
    expect(next(s.state, s.state.at)).toEqual({ choices: [], calls: [], wakeAt: null });
    expect(summarize(s.state, s.state.at).dueAt).toBeNull();
    expect(s.state.turn).toEqual(working.state.turn);
  });

  it('takes messages, which wait, also those for now', () => {
    for (const when of ['next', 'now', 'later'] as const) {
      expect(ruleOf(s.state, when)).toMatch(/^waits until its budget is raised, then (joins|starts) turn/);
      expect(send(s.state, 'hello', { key: null, when })).toMatchObject({ message: 'm2' });
    }
    const told = s.message('at once', null, 'now');
    expect(next(told.state, told.state.at).choices).toEqual([]);
  });

  it('goes on from that very step when a limit is changed, enough or not, and when it is resumed', () => {
    const goesOn = [{ do: 'generate', turn: 1, step: 1, attempt: 1 }];
    for (const events of [setBudget(s.state, {}, 'ann'), resume(s.state, 'ann')]) {
      const [event] = events;
      const after = s.event(event as never);
      expect(next(after.state, after.state.at).calls).toEqual(goesOn);
      expect(checkLog(after.events)).toEqual([]);
    }
  });

  it('is over when the turn is interrupted', () => {
    const after = s.event({ kind: 'turn.interrupted', turn: 1, by: 'ann' });
    expect([phase(after.state), after.state.budget.exhausted]).toEqual(['awaiting_input', null]);
  });

  it('a reply in it, or a step, breaks an invariant', () => {
    expect(checkLog(s.event(completed()).events).map(({ invariant }) => invariant)).toEqual(['budget.rests']);
    const step = s.event({ kind: 'step.started', turn: 1, step: 2 });
    expect(checkLog(step.events).map(({ invariant }) => invariant)).toEqual(['budget.rests']);
  });

  it('counts a reply that was cut off at what was left', () => {
    const cut = { usage: completed().usage, cost: { microUsd: 5, source: 'x' }, ms: 1 };
    const after = working.event({ kind: 'budget.exhausted', turn: 1, step: 1, cut, ...exhaustion });
    expect(after.state.budget.spent).toMatchObject({ microUsd: 5, tokens: 1_200, steps: 1 });
  });
});

describe('limits', () => {
  it('are changed one by one, and lifted by null', () => {
    expect(changed({ microUsd: 1, tokens: 2 }, { microUsd: 5, steps: 7 })).toEqual({
      ...{ microUsd: 5, tokens: 2, steps: 7 },
    });
    expect(changed({ microUsd: 1, tokens: 2 }, { microUsd: null })).toEqual({ tokens: 2 });
  });

  it('that change nothing leave no event, and what is no whole number is refused', () => {
    const s = sequence().started({ budget: { session: { tokens: 5 } } }).state;
    expect(setBudget(s, { session: { tokens: 5 } }, 'ann')).toEqual([]);
    for (const tokens of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
      expect(() => setBudget(s, { turn: { tokens } }, 'ann')).toThrow('whole number');
    }
  });
});

describe('in words', () => {
  it.each([
    ['microUsd', 12_345, '$0.0123'],
    ['microUsd', 50_000, '$0.05'],
    ['microUsd', 1_234_567_890, '$1,234.57'],
    ['tokens', 4_210, '4,210 tokens'],
    ['steps', 1, '1 model call'],
    ['ms', 1_500, '1.5 s'],
    ['ms', 1_800_000, '30.0 min'],
  ] as const)('%s %d is %s', (what, amount, words) => expect(amountInWords(what, amount)).toBe(words));

  it('says what is known, and what is not', () => {
    const spent = {
      ...NOTHING_SPENT,
      microUsd: 12_300,
      tokens: 4_210,
      steps: 12,
      ms: 1_000,
      unpriced: 2,
      lost: 1,
    };
    expect(spentInWords(spent)).toBe(
      '$0.0123, 4,210 tokens, 12 model calls, 1.0 s; 2 calls unpriced; 1 call without an end, at a cost that is not known',
    );
    expect([budgetInWords({}), budgetInWords({ microUsd: 2_000_000, steps: 50 })]).toEqual([
      ...['none', '$2.00, 50 model calls'],
    ]);
    expect(exhaustionInWords(exhaustion)).toBe(
      "The session's budget does not reach: $1.95 of $2.00 are used, and the next model call may take $0.13.",
    );
    expect(exhaustionInWords({ ...exhaustion, spent: 2_000_001 })).toBe(
      "The session's budget is used up: $2.00 of $2.00.",
    );
    expect(exhaustionInWords({ ...exhaustion, code: 'budget.unpriced' })).toContain('no price is known');
  });
});
