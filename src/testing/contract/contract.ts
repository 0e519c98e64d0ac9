/**
 * The resume contract: nine clauses that a runtime for long-lived agents keeps through crashes, and who they are put to.
 *
 * @example
 * ```ts
 * const { passed, list } = await contract(subject);
 * ```
 */

import type { Clause } from './clause.ts';
import { checkpoints } from './clauses/checkpoints.ts';
import { claims } from './clauses/claims.ts';
import { effects } from './clauses/effects.ts';
import { forks } from './clauses/forks.ts';
import { older } from './clauses/older.ts';
import { once } from './clauses/once.ts';
import { prefix } from './clauses/prefix.ts';
import { recovery } from './clauses/recovery.ts';
import { unknown } from './clauses/unknown.ts';
import { lives } from './lives.ts';
import { NotOffered, type Subject } from './port.ts';

export const CLAUSES: readonly Clause[] = [
  prefix,
  effects,
  forks,
  checkpoints,
  once,
  recovery,
  unknown,
  older,
  claims,
];

export interface Result {
  readonly name: string;
  readonly passed: boolean;
  /** Why not, or in a few words what was seen. */
  readonly detail: string;
  readonly evidence: readonly string[];
}

export interface Verdict {
  readonly subject: string;
  readonly version: string;
  readonly settings: readonly string[];
  /** How many clauses there are, and how many are kept. */
  readonly clauses: number;
  readonly passed: number;
  readonly list: readonly Result[];
}

export interface ContractOptions {
  /** By name; all by default. */
  readonly only?: readonly string[];
  readonly onResult?: (result: Result) => void;
}

/** Puts the clauses to a subject, one after the other, each with lives and folders of its own. */
export async function contract(
  subject: Subject,
  { only, onResult = () => {} }: ContractOptions = {},
): Promise<Verdict> {
  const list: Result[] = [];
  for (const clause of CLAUSES) {
    if (only && !only.includes(clause.name)) continue;
    const result = await judged(clause, subject);
    list.push(result);
    onResult(result);
  }
  const { name, version, settings } = subject;
  const passed = list.filter((result) => result.passed).length;
  return { subject: name, version, settings, clauses: list.length, passed, list };
}

async function judged(clause: Clause, subject: Subject): Promise<Result> {
  const own = await put(clause, subject);
  if (clause.name !== older.name || !subject.together) return own;
  const { settings } = subject.together;
  const shared = await put(clause, subject.together);
  const evidence = shared.evidence.map((line) => `${settings[0] ?? 'together'}: ${line}`);
  return {
    name: clause.name,
    passed: own.passed && shared.passed,
    detail: [own, shared].map(({ detail }) => detail).join('; '),
    evidence: [...own.evidence, ...evidence],
  };
}

async function put(clause: Clause, subject: Subject): Promise<Result> {
  const { name } = clause;
  const of = lives(subject);
  try {
    const { violations, evidence } = await clause.judge(of);
    const detail = violations.length > 0 ? violations.join('; ') : (evidence[0] ?? '');
    return { name, passed: violations.length === 0, detail, evidence };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const detail = error instanceof NotOffered ? `not offered: ${reason}` : `broke off: ${reason}`;
    return { name, passed: false, detail, evidence: [] };
  } finally {
    await of.end();
  }
}
