// Owns: O1, O2 and O3 of policy.ts.
import { expect, it } from 'vitest';
import type { Capability } from './capability.ts';
import type { Owner } from './ids.ts';
import { type Action, APPROVAL_MS, digestOf, policyOf, type Rule } from './policy.ts';

const action = (capability: Capability, more: Partial<Action> = {}): Action => ({
  owner: 'ada' as Owner,
  ...{ tool: 'pay', capability, target: 'pay service', args: { cents: 5 }, costUsd: null },
  ...more,
});
const blind: Capability = { kind: 'blind' };
const allow = (name: string, when: Rule['when']): Rule => ({ name, when, verdict: 'allow' });

it.each<[Capability | { kind: 'telepathic' }, string, string]>([
  [{ kind: 'read' }, 'allow', 'default:read'],
  [{ kind: 'keyed', retentionMs: 1 }, 'allow', 'default:recoverable'],
  [{ kind: 'queryable', lateMs: 1 }, 'allow', 'default:recoverable'],
  [{ kind: 'cancelable', lateMs: 1 }, 'allow', 'default:recoverable'],
  [blind, 'ask', 'default:blind'],
  [{ kind: 'telepathic' }, 'ask', 'default'],
])('O1 with no rule of its own, %j is: %s, by %s', (capability, verdict, rule) => {
  expect(policyOf([])(action(capability as Capability))).toMatchObject({ verdict, rule });
});

it('O1 the first rule that knows the action rules, before the default ones', () => {
  const rules: readonly Rule[] = [
    { name: 'never', when: ({ tool }) => tool === 'drop', verdict: 'deny' },
    allow('small', ({ args }) => (args as { cents: number }).cents < 10),
    { name: 'the rest', when: () => true, verdict: 'ask', expiresAfterMs: 60_000 },
  ];
  const policy = policyOf(rules);
  expect(policy(action(blind, { tool: 'drop' }))).toEqual({
    verdict: 'deny',
    rule: 'never',
    expiresAfterMs: null,
  });
  expect(policy(action(blind))).toEqual({ verdict: 'allow', rule: 'small', expiresAfterMs: null });
  const large = action({ kind: 'read' }, { args: { cents: 10 } });
  expect(policy(large)).toEqual({ verdict: 'ask', rule: 'the rest', expiresAfterMs: 60_000 });
});

it.each<[string, unknown]>([
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
  ['answers later', async () => true],
  ['says neither yes nor no', () => 1],
  ['is unsure', () => 'unsure'],
])('O2 a rule that %s asks, and is named', (_, when) => {
  const rule = allow('odd', when as Rule['when']);
  expect(policyOf([rule])(action({ kind: 'read' }))).toEqual({
    verdict: 'ask',
    rule: 'odd',
    expiresAfterMs: APPROVAL_MS,
  });
});

it('O3 the digest is that of tool, target and arguments, in whatever order they are written', () => {
  const one = { tool: 'pay', target: 'bank', args: { a: 1, b: [2] } };
  expect(digestOf({ ...one, args: { b: [2], a: 1 } })).toBe(digestOf(one));
  for (const other of [{ tool: 'post' }, { target: 'shop' }, { args: { a: 1, b: [3] } }])
    expect(digestOf({ ...one, ...other })).not.toBe(digestOf(one));
});
