// Owns: what a rule of a policy may say, what it then matches, and J1 of args-schema.ts.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Owner } from '../core/ids.ts';
import type { Action } from '../core/policy.ts';
import type { Json } from '../lib/json.ts';
import { fetchTool } from './fetch/fetch.ts';
import { sampleGrants } from './fetch/samples.ts';
import { type PolicyRule, parsePolicy, policyFrom } from './policy-file.ts';

const URLS = { billingUrl: 'http://127.0.0.1:4801', mailingUrl: 'http://127.0.0.1:4802' };
const action = (more: Partial<Action> = {}): Action => ({
  ...{ owner: 'ada' as Owner, tool: 'refund', capability: { kind: 'keyed', retentionMs: 1 } },
  ...{ target: 'POST https://shop.example/refunds', args: { cents: 500 }, costUsd: 5 },
  ...more,
});
const rulingOf = (when: PolicyRule['when'], more?: Partial<Action>): string => {
  const rule: PolicyRule = { name: 'mine', verdict: 'deny', ...(when === undefined ? {} : { when }) };
  const { verdict, rule: by } = policyFrom([rule])(action(more));
  return `${verdict} by ${by}`;
};
const refusal = (rules: unknown): string => {
  try {
    parsePolicy(JSON.stringify({ rules }));
    return 'taken';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};
const not = 'allow by default:recoverable';

describe('a rule matches', () => {
  it.each<[PolicyRule['when'], Partial<Action>, string]>([
    [undefined, {}, 'deny by mine'],
    [{}, {}, 'deny by mine'],
    [{ tool: 'refund' }, {}, 'deny by mine'],
    [{ tool: 'fund' }, {}, not],
    [{ tool: ['pay', 're*'] }, {}, 'deny by mine'],
    [{ target: 'POST https://shop.example/*' }, {}, 'deny by mine'],
    [{ target: 'POST https://shop.example/*' }, { target: 'POST https://shopxexample/refunds' }, not],
    [{ target: 'POST https://shop.example/' }, {}, not],
    [{ owner: 'ada' }, {}, 'deny by mine'],
    [{ owner: 'bob' }, {}, not],
    [{ capability: ['blind', 'keyed'] }, {}, 'deny by mine'],
    [{ capability: 'blind' }, {}, not],
    [{ maxCostUsd: 5 }, {}, 'deny by mine'],
    [{ maxCostUsd: 4.99 }, {}, not],
    [{ tool: 'refund', capability: 'blind' }, {}, not],
    [({ args }) => (args as { cents: number }).cents > 100, {}, 'deny by mine'],
    [({ args }) => (args as { cents: number }).cents > 900, {}, not],
  ])('%j, of an action with %j: %s', (when, more, ruling) => {
    expect(rulingOf(when, more)).toBe(ruling);
  });

  it('asks, named, where it bounds a cost that nobody states; and only where the rest of it is true', () => {
    expect(rulingOf({ tool: 'refund', maxCostUsd: 5 }, { costUsd: null })).toBe('ask by mine');
    expect(rulingOf({ tool: 'pay', maxCostUsd: 5 }, { costUsd: null })).toBe(not);
  });

  it('asks where its function throws, and changes nothing of what is sent', () => {
    const boom = (): boolean => {
      throw new Error('no');
    };
    expect(rulingOf(boom)).toBe('ask by mine');
    const args = { cents: 500 };
    const meddle = (seen: Action): boolean => {
      (seen.args as { cents: number }).cents = 1;
      return true;
    };
    expect(rulingOf(meddle, { args })).toBe('deny by mine');
    expect(args).toEqual({ cents: 500 });
  });

  it.each<[object, Json, boolean]>([
    [
      { type: 'object', properties: { cents: { type: 'integer', maximum: 1000 } }, required: ['cents'] },
      { cents: 1000 },
      true,
    ],
    [
      { type: 'object', properties: { cents: { type: 'integer', maximum: 1000 } }, required: ['cents'] },
      { cents: 1001 },
      false,
    ],
    [
      { type: 'object', properties: { cents: { type: 'integer', maximum: 1000 } }, required: ['cents'] },
      {},
      false,
    ],
    [
      { type: 'object', properties: { to: { type: 'string', pattern: '@ours\\.example$' } } },
      { to: 'a@ours.example' },
      true,
    ],
    [
      { type: 'object', properties: { to: { type: 'string', pattern: '@ours\\.example$' } } },
      { to: 'a@other.example' },
      false,
    ],
    [{ type: 'object', properties: { to: { enum: ['ada', 'bob'] } } }, { to: 'eve' }, false],
    [
      { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false },
      { a: 1, b: 2 },
      false,
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, true],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 5, false],
    [{ type: 'array', items: { type: 'string', maxLength: 2 } }, ['ab', 'abc'], false],
  ])('%j, of arguments %j: %s', (args, given, isMatch) => {
    expect(rulingOf({ args } as PolicyRule['when'], { args: given })).toBe(isMatch ? 'deny by mine' : not);
  });
});

describe('what is wrong is named by its place', () => {
  const rule = { name: 'mine', verdict: 'allow' };
  const args = (schema: unknown) => [{ ...rule, when: { args: schema } }];
  it.each<[unknown, string]>([
    [[{ ...rule, verdict: 'maybe' }], 'rules[0].verdict: '],
    [[{ ...rule, when: { tools: 'x' } }], 'rules[0].when: '],
    [[{ ...rule, when: { capability: 'writes' } }], 'rules[0].when.capability: '],
    [[{ ...rule, expiresAfterMs: 0 }], 'rules[0].expiresAfterMs: '],
    [[{ ...rule, name: 'default:mine' }], 'rules[0].name: does not begin with "default"'],
    [[rule, rule], 'rules[1].name: "mine" is taken'],
    [args({ properties: { cents: { maximum: 10 } } }), 'rules[0].when.args.type: is one of object'],
    [
      args({ type: 'object', required: ['x'] }),
      'rules[0].when.args.required: is a list of names that stand in properties',
    ],
    [
      args({ type: 'object', properties: { cents: { maximum: 10 } } }),
      'rules[0].when.args.properties.cents.type: is one of',
    ],
    [args({ type: 'string', maximum: 3 }), 'rules[0].when.args.maximum: is not held for the type string'],
    [args({ type: 'object', not: { type: 'object' } }), 'rules[0].when.args.not: is not held'],
    [args({ type: 'string', format: 'email' }), 'rules[0].when.args.format: is not held'],
    [args({ const: { a: 1 } }), 'rules[0].when.args.const: is made of texts'],
    [args({ anyOf: [{ required: ['a'] }] }), 'rules[0].when.args.anyOf[0].type: is one of'],
    [args({ anyOf: [{ type: 'null' }], type: 'string' }), 'rules[0].when.args.anyOf: stands alone'],
    [args({ type: 'string', pattern: '(' }), 'rules[0].when.args: '],
    ['none', 'rules: '],
  ])('%j', (rules, said) => {
    expect(refusal(rules)).toContain(said);
  });

  it('in code as in a file', () => {
    const rules = [
      { name: 'a', verdict: 'ask' as const, when: () => true },
      { name: 'b', verdict: 'ask' as const },
    ];
    expect(() =>
      policyFrom([...rules, { name: 'c', verdict: 'ask', when: { args: { type: 'thing' } } }]),
    ).toThrow('rules[2].when.args.type: is one of');
    expect(() => policyFrom({} as never)).toThrow('rules: ');
    expect(policyFrom(rules)(action())).toMatchObject({ verdict: 'ask', rule: 'a' });
  });

  it('also what is no JSON at all', () => {
    expect(() => parsePolicy('{')).toThrow('The policy is not JSON.');
    expect(() => parsePolicy('[]')).toThrow('The policy is wrong. the file: ');
  });
});

it('the example of the guide is read, and means what the guide says', () => {
  const guide = readFileSync(new URL('../../docs/guide/approvals.md', import.meta.url), 'utf8');
  const policy = parsePolicy(/```json\n(.*?)\n```/s.exec(guide)?.[1] ?? '');
  const mailing = fetchTool({ grants: sampleGrants(URLS), sealer: { seal: (b) => b, open: (b) => b } });
  const plan = mailing.plan({ url: `${URLS.mailingUrl}/messages`, method: 'POST', body: '{}' });
  if ('refused' in plan) throw new Error(plan.refused.message);
  const mail = { owner: 'ada' as Owner, tool: 'fetch', costUsd: null, ...plan };
  expect(policy(mail)).toEqual({ verdict: 'ask', rule: 'mails', expiresAfterMs: 86_400_000 });
  expect(parsePolicy('{"rules":[]}')(mail)).toMatchObject({ verdict: 'allow', rule: 'default:recoverable' });
  const invite = (to: string) =>
    policy(action({ tool: 'invite', args: { to }, capability: { kind: 'blind' } })).rule;
  expect([invite('a@ours.example'), invite('a@theirs.example')]).toEqual(['our own people', 'default:blind']);
  expect(policy(action({ tool: 'fetch', target: 'GET https://payroll.example/1' })).verdict).toBe('deny');
});
