/**
 * Rules of a policy as people write them: a JSON file `{ "rules": [ … ] }`, or the same in code, where `when` may also be
 * a function. The core sees predicates only.
 */

import { z } from 'zod';
import type { Capability } from '../core/capability.ts';
import { type Action, type Policy, policyOf, type Rule, type Verdict } from '../core/policy.ts';
import { argsMatcher } from './args-schema.ts';
import { checked, parsed, uniqueNames, type Written } from './written.ts';

/** All that is said must be true; what is left out does not matter. */
export interface When {
  /** Exact, or with `*` for anything; one or a list. */
  readonly tool?: string | readonly string[];
  readonly target?: string | readonly string[];
  readonly owner?: string | readonly string[];
  readonly capability?: Capability['kind'] | readonly Capability['kind'][];
  /** A JSON Schema of the arguments. */
  readonly args?: { readonly [keyword: string]: unknown };
  /** At most so much. Of an action whose cost nobody states the rule knows nothing: a person is asked. */
  readonly maxCostUsd?: number;
}

export interface PolicyRule {
  readonly name: string;
  /** Without it the rule is about everything. A function is pure and says true or false. */
  readonly when?: When | ((action: Action) => boolean);
  readonly verdict: Verdict;
  /** How long a person has to decide, in milliseconds; null for as long as it takes. By default seven days. */
  readonly expiresAfterMs?: number | null;
}

/**
 * @example
 * ```ts
 * parsePolicy('{"rules":[{"name":"small refunds","when":{"tool":"refund","maxCostUsd":20},"verdict":"allow"}]}');
 * ```
 */
export function parsePolicy(text: string): Policy {
  const { rules } = checked(FILE, parsed(text, WRITTEN), WRITTEN);
  return policyOf(rules.map(compiled));
}

/** The same checks for rules made in code. */
export function policyFrom(rules: readonly PolicyRule[]): Policy {
  const declared = Array.isArray(rules) ? rules.map(withoutFunction) : rules;
  checked(FILE, { rules: declared }, WRITTEN);
  return policyOf(rules.map(compiled));
}

const withoutFunction = (rule: PolicyRule): unknown =>
  typeof rule?.when === 'function' ? { ...rule, when: undefined } : rule;

const WRITTEN: Written = { code: 'policy.invalid', subject: 'The policy is', next: 'correct the rules' };

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9 _.:-]{0,63}$/, 'is 1 to 64 letters, digits, spaces, . : _ -')
  .refine(
    (text) => !text.startsWith('default'),
    'does not begin with "default": those are the built-in rules',
  );
const oneOrMany = <T extends z.ZodType>(one: T) => z.union([one, z.array(one).min(1)]);
const pattern = oneOrMany(z.string().min(1));

const when = z.strictObject({
  tool: pattern.optional(),
  target: pattern.optional(),
  owner: pattern.optional(),
  capability: oneOrMany(z.enum(['read', 'keyed', 'queryable', 'cancelable', 'blind'])).optional(),
  args: z
    .looseObject({})
    .superRefine((schema, context) => {
      const found = argsMatcher(schema);
      if (typeof found === 'function') return;
      context.addIssue({ code: 'custom', path: [...found.path], message: found.message });
    })
    .optional(),
  maxCostUsd: z.number().nonnegative().optional(),
});

const rule = z.strictObject({
  name,
  when: when.optional(),
  verdict: z.enum(['allow', 'ask', 'deny']),
  expiresAfterMs: z.int().positive().nullable().optional(),
});

const FILE = z.strictObject({
  rules: z.array(rule).superRefine(uniqueNames),
});

/** As it comes out of the check: what is left out may be there and undefined. */
type Loose<T> = { readonly [K in keyof T]: T[K] | undefined };
type Condition = (action: Action) => boolean;
interface Checked extends Pick<PolicyRule, 'name' | 'verdict'> {
  readonly when?: Loose<When> | Condition | undefined;
  readonly expiresAfterMs?: number | null | undefined;
}

function compiled({ name, when = {}, verdict, expiresAfterMs }: Checked): Rule {
  return {
    ...{ name, verdict, when: predicate(when) },
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

function predicate(when: NonNullable<Checked['when']>): Rule['when'] {
  // A copy: what a rule does to the action that it looks at must not change what is sent.
  if (typeof when === 'function') return (action) => when(structuredClone(action));
  const { maxCostUsd } = when;
  const conditions = [
    globs(when.tool, ({ tool }) => tool),
    globs(when.target, ({ target }) => target),
    globs(when.owner, ({ owner }) => owner),
    kinds(when.capability),
    args(when.args),
  ];
  return (action) => {
    if (!conditions.every((holds) => holds(action))) return false;
    if (maxCostUsd === undefined) return true;
    const { costUsd } = action;
    return costUsd !== null && Number.isFinite(costUsd) ? costUsd <= maxCostUsd : 'unsure';
  };
}

const ALWAYS: Condition = () => true;

function globs(given: string | readonly string[] | undefined, of: (action: Action) => string): Condition {
  if (given === undefined) return ALWAYS;
  const patterns = listOf(given).map((text) => {
    const parts = text.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's');
  });
  return (action) => patterns.some((one) => one.test(of(action)));
}

function kinds(given: When['capability']): Condition {
  if (given === undefined) return ALWAYS;
  const wanted: readonly string[] = listOf(given);
  return ({ capability }) => wanted.includes(capability.kind);
}

function args(schema: When['args']): Condition {
  const matches = schema === undefined ? null : argsMatcher(schema);
  return typeof matches === 'function' ? (action) => matches(action.args) : ALWAYS;
}

const listOf = <T extends string>(given: T | readonly T[]): readonly T[] =>
  typeof given === 'string' ? [given] : given;
