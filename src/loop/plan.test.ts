import { expect, it } from 'vitest';
import type { CallId, CellId } from '../core/ids.ts';
import { policyOf } from '../core/policy.ts';
import { sequence } from '../testing/facts.ts';
import { tool } from '../testing/harness.ts';
import { planCall, planGuestCalls } from './plan.ts';
import { registry } from './tools/registry.ts';

const planner = { tools: registry([]), policy: policyOf([]) };
const cell = 'c1' as CellId;
const timer = (ms: number) => [{ guestCall: 1, name: 'timer', args: JSON.stringify({ ms }) }];
const working = sequence().started().acquired(1).message('x').turn();
const resting = working.reply('Done.').surfaced('Done.');

it('a timer that a cell sets is due when it says; one that is set at rest, not sooner than in a second', () => {
  const due = ({ state }: typeof working, ms: number): number => {
    const [event] = planGuestCalls(state, cell, timer(ms), planner);
    return event?.kind === 'timer.set' ? event.due - state.at : Number.NaN;
  };
  expect([due(working, 0), due(working, 250)]).toEqual([1, 250]);
  expect([due(resting, 0), due(resting, 250), due(resting, 5_000)]).toEqual([1_000, 1_000, 5_000]);
});

it('a call that is not granted is intended and refused, so that its promise rejects by the log', () => {
  const events = planGuestCalls(
    working.state,
    cell,
    [{ guestCall: 2, name: 'tools.rm', args: '{}' }],
    planner,
  );
  expect(events).toMatchObject([
    { kind: 'effect.intended', effect: 'e1', origin: { guestCall: 2 } },
    { kind: 'effect.refused', effect: 'e1', code: 'tool.not_granted' },
  ]);
});

const send = tool('send', { kind: 'blind' }, async () => ({ status: 'done', result: null }));
const asked = sequence()
  .started()
  .acquired(1)
  .message('x')
  .turn()
  .asks(['send', { to: 'ada' }]);
const plans = (rules: Parameters<typeof policyOf>[0]) =>
  planCall(asked.state, 'call_1' as CallId, {
    tools: registry([send]),
    policy: policyOf(rules),
    sandbox: { prepare: () => ({ ok: false, message: '' }) },
  });

it('the ruling stands in the intention, with the name of the rule', () => {
  expect(plans([])).toMatchObject([
    { kind: 'effect.intended', policy: { verdict: 'ask', rule: 'default:blind' } },
  ]);
  const mine = { name: 'mine', when: () => true, verdict: 'allow' } as const;
  expect(plans([mine])).toMatchObject([{ policy: { verdict: 'allow', rule: 'mine' } }]);
});

it('what is denied is intended and refused in one breath, and the rule is named to whoever asked', () => {
  const never = { name: 'never', when: () => true, verdict: 'deny' } as const;
  const refused = {
    kind: 'effect.refused',
    effect: 'e1',
    code: 'policy.denied',
    message: expect.stringContaining('"never"'),
  };
  expect(plans([never])).toMatchObject([{ kind: 'effect.intended', policy: { verdict: 'deny' } }, refused]);
  const inCell = planGuestCalls(working.state, cell, [{ guestCall: 1, name: 'tools.send', args: '{}' }], {
    tools: registry([send]),
    policy: policyOf([never]),
  });
  expect(inCell).toMatchObject([{ kind: 'effect.intended', origin: { guestCall: 1 } }, refused]);
});
