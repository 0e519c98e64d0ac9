/**
 * The judge of a run: the books against what was wanted, and against what the person, the model and the ledger were
 * told, at the moment and at rest. It knows nothing of the strategy.
 */

import type { Capability } from '../core/capability.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import type { Json } from '../lib/json.ts';
import { type Claim, claimsIn } from './agent.ts';
import { asksAboutEffect, fewestQuestions } from './questions.ts';
import type { Entry } from './world.ts';

export interface Told {
  readonly at: number;
  readonly text: string;
}

export interface Case {
  /** How often each thing is wanted. */
  readonly wanted: ReadonlyMap<string, number>;
  /** All that ever stood in the books of this run. */
  readonly entries: readonly Entry[];
  readonly told: readonly Told[];
  /** The log of each session that worked at it. */
  readonly logs: readonly (readonly (Event | ForeignEvent)[])[];
  /** What an effect is about, by its arguments. */
  readonly about: (args: Json) => readonly string[];
  /** What the service can do in truth, whatever the strategy declared. */
  readonly capability: Capability;
  readonly claims?: (text: string) => readonly Claim[];
}

export interface Verdict {
  /** Rows that stand beyond what was wanted. */
  readonly duplicates: number;
  /** Rows beyond what was wanted that stood for a while and were undone. */
  readonly transient: number;
  /** Rows that were wanted and do not stand. */
  readonly lost: number;
  /** Of these: an identical one stands, and nobody was told that this one is missing. */
  readonly suppressed: number;
  /** Things about which something untrue was said. */
  readonly untrue: number;
  readonly questions: number;
  readonly questionsMinimum: number;
  /** What is wrong, in words. */
  readonly findings: readonly string[];
}

export function judge(one: Case): Verdict {
  const { wanted, entries, logs } = one;
  const names = new Set([...wanted.keys(), ...entries.map(({ what }) => what)]);
  let [duplicates, lost, transient, suppressed, untrue] = [0, 0, 0, 0, 0];
  const findings: string[] = [];
  for (const what of names) {
    const aim = wanted.get(what) ?? 0;
    const stand = standing(entries, what, Number.POSITIVE_INFINITY);
    duplicates += Math.max(0, stand - aim);
    lost += Math.max(0, aim - stand);
    transient += entries.filter((entry) => entry.what === what && entry.undoneAt !== null).length;
    const last = lastClaim(one, what);
    if (stand > 0 && stand < aim && last !== undefined && last.done === aim) suppressed += aim - stand;
    if (stand !== aim) findings.push(`${what} stands ${stand} times, wanted ${aim}`);
    const lie = untruth(one, what);
    if (lie) findings.push(lie);
    if (lie) untrue++;
  }
  return {
    ...{ duplicates, transient, lost, suppressed, untrue, findings },
    questions: logs.flat().filter(asksAboutEffect).length,
    questionsMinimum: logs.reduce((sum, log) => sum + fewestQuestions(log, one.capability), 0),
  };
}

/** At an instant: what is booked in that very millisecond may have come before or after what was said in it. */
function standing(
  entries: readonly Entry[],
  what: string,
  at: number,
  within: 'before' | 'with' = 'with',
): number {
  const isBooked = (entry: Entry): boolean => (within === 'with' ? entry.at <= at : entry.at < at);
  const isUndone = ({ undoneAt }: Entry): boolean =>
    undoneAt !== null && (within === 'with' ? undoneAt < at : undoneAt <= at);
  return entries.filter((entry) => entry.what === what && isBooked(entry) && !isUndone(entry)).length;
}

const claimsOf = ({ claims = claimsIn }: Case, text: string, what: string): readonly Claim[] =>
  claims(text).filter((claim) => claim.what === what);

const lastClaim = (one: Case, what: string): Claim | undefined =>
  one.told.flatMap(({ text }) => claimsOf(one, text, what)).at(-1);

/** What was said of it that the books contradict; null when nothing was. */
function untruth(one: Case, what: string): string | null {
  const { entries, told, logs } = one;
  const isWrong = ({ done, unknown }: Claim, at: number): boolean => {
    const least = standing(entries, what, at, 'before');
    return standing(entries, what, at) < done || least > done + unknown;
  };
  const last = lastClaim(one, what);
  if (last && isWrong(last, Number.POSITIVE_INFINITY))
    return `the last word is that ${what} is done ${last.done} times`;
  for (const { text, at } of told) {
    const wrong = claimsOf(one, text, what).find((claim) => isWrong(claim, at));
    if (wrong)
      return `told at ${at} that ${what} is done ${wrong.done} times, it stood ${standing(entries, what, at)} times`;
  }
  for (const log of logs) {
    const wrong = wrongRow(one, log, what);
    if (wrong) return wrong;
  }
  return null;
}

/** Rows of the ledger, and so what the model read, at the moment they were written. */
function wrongRow({ entries, about }: Case, log: Case['logs'][number], what: string): string | null {
  const own = new Set<string>();
  const done = new Set<string>();
  const not = new Set<string>();
  for (const event of log) {
    if (event.kind === 'effect.intended' && about(event.args).includes(what)) own.add(event.effect);
    if (event.kind !== 'effect.settled' && event.kind !== 'effect.reconciled') continue;
    if (!own.has(event.effect)) continue;
    const { status } = event.kind === 'effect.settled' ? event.outcome : event.finding;
    for (const set of [done, not]) set.delete(event.effect);
    if (status === 'done') done.add(event.effect);
    if (status === 'failed' || status === 'absent') not.add(event.effect);
    const stand = standing(entries, what, event.at);
    const least = standing(entries, what, event.at, 'before');
    const isWrong = (status === 'done' && stand < done.size) || (not.size > 0 && least > own.size - not.size);
    if (isWrong)
      return `${event.seq} at ${event.at}: the ledger says ${event.effect} ${status}, ${what} stood ${stand} times`;
  }
  return null;
}
