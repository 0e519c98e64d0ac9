/**
 * The running total: one file that any number of invocations add to. Each has an entry with its seed and the revision of
 * the code that it tested; the sums are made of the entries, over all of them and over each code apart.
 *
 * R1  A round is counted once it was judged, with all of its kills, or not at all.
 * R2  The file is replaced as a whole after each round. An invocation writes its own entry and leaves the others.
 * R3  An invocation goes on with the first round of its seed that no other has come to. Without a seed it takes the newest.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Revision } from '../../break/revision.ts';
import { added as addedFields, type Counts, countsOf } from '../sim/verdict.ts';
import { SERVICES } from './batch.ts';
import type { Round } from './round.ts';
import { noTallies, type Tallies } from './tally.ts';

/** Stuck are sessions that did not come to rest; approvals are no questions whether something happened. */
export interface Totals extends Counts {
  kills: number;
  rounds: number;
  /** Kills of a server that was still starting. */
  early: number;
  /** Kills that interrupted a recovery, those included. */
  recovering: number;
  /** Kills after which nobody was there for longer. */
  away: number;
  approvals: number;
  rejected: number;
  effects: number;
  /** Sendings whose own answer never came. */
  inDoubt: number;
  /** Rows that stood twice for a while, were undone and told. */
  extras: number;
  /** Quarantines that the person had to resume. */
  resumed: number;
  /** Times when a session was said to rest while an effect of it was open. */
  restless: number;
  kinds: Tallies;
}

export interface Failure {
  /** Plays this round again; where kills land is up to the machine. */
  readonly repeat: string;
  readonly session: string;
  readonly findings: readonly string[];
}

export interface Invocation extends Revision {
  readonly id: string;
  readonly seed: number;
  /** ISO 8601. */
  readonly startedAt: string;
  endedAt: string;
  readonly workers: number;
  /** Of the rounds that it has counted; 0 before the first. */
  lastRound: number;
  totals: Totals;
  readonly failures: Failure[];
}

export interface Results {
  readonly invocations: readonly Invocation[];
}

export const noTotals = (): Totals => ({
  ...{ kills: 0, duplicates: 0, lost: 0, untrue: 0, stuck: 0, broken: 0 },
  ...{ questions: 0, questionsMinimum: 0, rounds: 0, early: 0, recovering: 0, away: 0 },
  ...{ approvals: 0, rejected: 0, effects: 0, inDoubt: 0, extras: 0, resumed: 0, restless: 0 },
  kinds: noTallies(),
});

export function totalsOf(round: Round): Totals {
  const { verdict, kinds, kills, early, recovering, away, approvals, rejected, resumed } = round;
  const all = Object.values(kinds);
  const sum = (of: 'effects' | 'inDoubt' | 'undone'): number => all.reduce((so, one) => so + one[of], 0);
  return {
    ...countsOf(verdict),
    ...{
      rounds: 1,
      kills,
      early,
      recovering,
      away,
      approvals,
      rejected,
      resumed,
      restless: round.restless.length,
    },
    ...{ effects: sum('effects'), inDoubt: sum('inDoubt'), extras: sum('undone'), kinds },
  };
}

export const added = (a: Totals, b: Totals): Totals => ({
  ...addedFields(a, b),
  kinds: Object.fromEntries(
    SERVICES.map((name) => [name, addedFields(a.kinds[name], b.kinds[name])]),
  ) as unknown as Tallies,
});

export const sumOf = (invocations: readonly Invocation[]): Totals =>
  invocations.reduce((sum, { totals }) => added(sum, totals), noTotals());

/** R3. */
export const seedIn = ({ invocations }: Results): number | null => invocations.at(-1)?.seed ?? null;

/** R3. */
export const nextRound = ({ invocations }: Results, seed: number): number =>
  1 + Math.max(0, ...invocations.filter((one) => one.seed === seed).map(({ lastRound }) => lastRound));

/** The results with this invocation as it stands now. */
export function withInvocation({ invocations }: Results, own: Invocation): Results {
  const others = invocations.filter(({ id }) => id !== own.id);
  return { invocations: [...others, own] };
}

/** As the file shows it: the sums first. */
export function shown({ invocations }: Results): object {
  const codes = [...new Set(invocations.map(({ code }) => code))];
  return {
    all: sumOf(invocations),
    byCode: codes.map((code) => {
      const own = invocations.filter((one) => one.code === code);
      return {
        code,
        invocations: own.length,
        seeds: [...new Set(own.map(({ seed }) => seed))],
        ...sumOf(own),
      };
    }),
    failures: invocations.flatMap(({ code, failures }) => failures.map((failure) => ({ code, ...failure }))),
    invocations,
  };
}

export function readResults(file: string): Results {
  try {
    const { invocations } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>;
    if (!Array.isArray(invocations)) throw new Error(`${file} holds no running total of this campaign`);
    return { invocations };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { invocations: [] };
    throw error;
  }
}

/** R2. An invocation that has counted nothing leaves no entry. */
export function keepResults(file: string, own: Invocation): void {
  if (own.totals.rounds === 0 && own.failures.length === 0) return;
  writeFileSync(
    `${file}.next`,
    `${JSON.stringify(shown(withInvocation(readResults(file), own)), null, 2)}\n`,
  );
  renameSync(`${file}.next`, file);
}
