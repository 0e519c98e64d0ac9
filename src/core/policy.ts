/**
 * Policy: whether an action is done, asked about, or not done. Pure, and asked while the action is planned, so that the
 * ruling stands in the log beside the intention.
 *
 * O1  The first rule that knows an action rules, and is named. What no rule knows is asked about.
 * O2  A rule that cannot tell asks: one that throws, that says anything but yes or no, or that bounds a cost nobody
 *     states.
 * O3  What a person approves is one exact action: tool, target and arguments, by their digest.
 */

import { sha256 } from '../lib/digest.ts';
import { canonical, type Json } from '../lib/json.ts';
import type { Capability } from './capability.ts';
import type { Owner } from './ids.ts';

export interface Action {
  readonly owner: Owner;
  readonly tool: string;
  readonly capability: Capability;
  readonly target: string;
  readonly args: Json;
  /** What it costs, as far as its tool can say; null when it cannot. */
  readonly costUsd: number | null;
}

export type Verdict = 'allow' | 'ask' | 'deny';

export interface Rule {
  readonly name: string;
  /** Whether the rule is about this action; `unsure` when it cannot tell. Pure: same action, same answer. */
  readonly when: (action: Action) => boolean | 'unsure';
  readonly verdict: Verdict;
  /** How long a person has to decide; null for as long as it takes. By default seven days. */
  readonly expiresAfterMs?: number | null;
}

export interface Ruling {
  readonly verdict: Verdict;
  /** The name of the rule. */
  readonly rule: string;
  /** How long a person has, where one is asked; null for as long as it takes. */
  readonly expiresAfterMs: number | null;
}

export type Policy = (action: Action) => Ruling;

export const APPROVAL_MS = 7 * 24 * 3_600_000;

/** What holds where no rule of the operator knows better: what cannot be cleared up afterwards is asked about before. */
export const DEFAULT_RULES: readonly Rule[] = [
  { name: 'default:read', when: ({ capability }) => capability.kind === 'read', verdict: 'allow' },
  { name: 'default:blind', when: ({ capability }) => capability.kind === 'blind', verdict: 'ask' },
  {
    name: 'default:recoverable',
    when: ({ capability }) => ['keyed', 'queryable', 'cancelable'].includes(capability.kind),
    verdict: 'allow',
  },
];

/** These rules in their order, and behind them the default ones. */
export function policyOf(rules: readonly Rule[]): Policy {
  const all = [...rules, ...DEFAULT_RULES];
  return (action) => {
    for (const rule of all) {
      const answer = askRule(rule, action);
      if (answer !== false) return ruling(rule, answer === true ? rule.verdict : 'ask');
    }
    return { verdict: 'ask', rule: 'default', expiresAfterMs: APPROVAL_MS };
  };
}

/** O2. */
function askRule({ when }: Rule, action: Action): boolean | 'unsure' {
  try {
    const answer: unknown = when(action);
    return typeof answer === 'boolean' ? answer : 'unsure';
  } catch {
    return 'unsure';
  }
}

function ruling({ name, expiresAfterMs = APPROVAL_MS }: Rule, verdict: Verdict): Ruling {
  return { verdict, rule: name, expiresAfterMs: verdict === 'ask' ? expiresAfterMs : null };
}

/** O3. */
export const digestOf = ({ tool, target, args }: Pick<Action, 'tool' | 'target' | 'args'>): string =>
  sha256(canonical({ tool, target, args }));
