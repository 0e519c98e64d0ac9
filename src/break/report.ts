/**
 * The figures of a bench: sums by cell and by strategy, and the comparison with what was predicted.
 *
 * F1  Only runs count whose fault has happened; the others are told apart, and so is what did not come to rest.
 * F2  A cell met its prediction if it is right in every run. A predicted failure must show in at least half of them: the
 *     known-bad strategies are the control that the bench can see anything at all.
 * F3  A cell that missed its prediction is run once more, since a machine that stalls can shift an instant. Its figures stay
 *     those of the first time; only the comparison takes the better one, and the cell is named.
 */

import type { Revision } from './revision.ts';
import type { Outcome } from './score.ts';
import { ABLATIONS, type Cell, cellName, STRATEGIES, type Strategy } from './terms.ts';
import { type Prediction, predict } from './theory.ts';

export interface Sums {
  readonly runs: number;
  readonly duplicates: number;
  readonly transient: number;
  readonly lost: number;
  readonly suppressed: number;
  readonly untrue: number;
  readonly questions: number;
  readonly questionsMinimum: number;
  /** Runs with a duplicate, a loss or an untruth. */
  readonly wrong: number;
  readonly stuck: number;
  readonly extraModelCalls: number;
  /** Null where no run without a crash tells how many there are without. */
  readonly extraTokens: number | null;
  /** Median, from the crash to the next durable progress. */
  readonly stepMs: number | null;
}

export interface CellFigures extends Cell, Sums {
  readonly predicted: Prediction;
  readonly isMet: boolean;
}

export interface StrategyFigures extends Sums {
  readonly title: string;
  /** Share of runs that went wrong, and its 95% interval (Wilson). */
  readonly wrongShare: number;
  readonly wrongBetween: readonly [number, number];
  /** Questions by those that nobody without errors can do without; null where the least is none. */
  readonly questionRatio: number | null;
  readonly unfired: number;
}

export interface Results extends Revision {
  readonly seed: number;
  readonly rounds: number;
  readonly quick: boolean;
  readonly seconds: number;
  readonly runs: number;
  readonly strategies: Readonly<Record<string, StrategyFigures>>;
  readonly ablations: Readonly<Record<string, StrategyFigures>>;
  readonly predictions: {
    readonly met: number;
    /** Both times. */
    readonly missed: readonly string[];
    /** Met at the second time only. */
    readonly repeated: readonly string[];
  };
  readonly coverage: {
    /** Cells of the chosen matrix, and those with a run whose fault is confirmed. */
    readonly cells: number;
    readonly confirmed: number;
    readonly isExhaustive: boolean;
    /** Beyond the first run of each cell: the same with other instants and other cuts. */
    readonly sampledRuns: number;
    readonly unfired: number;
  };
  /** Real processes and SIGKILL. */
  readonly killed: {
    readonly runs: number;
    readonly unfired: number;
    readonly strategies: Readonly<Record<string, Sums>>;
    readonly missed: readonly string[];
    readonly repeated: readonly string[];
  };
  readonly cells: readonly CellFigures[];
  /** What was wrong under Outlast, and in which run. */
  readonly findings: readonly string[];
}

/** What was run: the first time, and the cells that had missed their prediction once more. */
export interface Runs {
  readonly first: readonly Outcome[];
  readonly again: readonly Outcome[];
}

interface Given extends Revision {
  readonly seed: number;
  readonly rounds: number;
  readonly quick: boolean;
  readonly seconds: number;
  readonly cells: readonly Cell[];
  readonly runs: Runs;
  readonly killed: Runs;
}

export function results({ cells, runs, killed, ...given }: Given): Results {
  const outcomes = runs.first;
  const fired = outcomes.filter(({ hasFired }) => hasFired);
  const plain = plainTokens(fired);
  const groups = byCell(outcomes);
  const compared = comparison(runs);
  const figures = [...groups].map(([name, group]) =>
    cellFigures(group, plain, !compared.missed.includes(name)),
  );
  const of = (names: readonly { readonly name: Strategy; readonly title: string }[]) =>
    Object.fromEntries(
      names.flatMap(({ name, title }) => {
        const own = outcomes.filter(({ cell }) => cell.strategy === name);
        return own.length === 0 ? [] : [[name, strategyFigures(title, own, plain)]];
      }),
    );
  const killedRuns = killed.first.filter(({ hasFired }) => hasFired);
  return {
    ...given,
    runs: fired.length,
    strategies: of(STRATEGIES),
    ablations: of(ABLATIONS),
    predictions: { met: groups.size - compared.missed.length, ...compared },
    coverage: {
      cells: cells.length,
      confirmed: groups.size,
      isExhaustive: groups.size === cells.length,
      sampledRuns: fired.length - groups.size,
      unfired: outcomes.length - fired.length,
    },
    killed: {
      runs: killedRuns.length,
      unfired: killed.first.length - killedRuns.length,
      strategies: Object.fromEntries(
        [...grouped(killedRuns, ({ cell }) => cell.strategy)].map(([name, runs]) => [
          name,
          sums(runs, plain),
        ]),
      ),
      ...comparison(killed),
    },
    cells: figures,
    findings: [...fired, ...killedRuns, ...runs.again, ...killed.again].flatMap(
      ({ cell, run, seed: own, verdict, isStuck }) =>
        cell.strategy !== 'outlast'
          ? []
          : [...verdict.findings, ...(isStuck ? ['it did not come to rest'] : [])].map(
              (finding) => `${cellName(cell)}, run ${run} with ${own}: ${finding}`,
            ),
    ),
  };
}

/** The cells of these runs that are not as predicted. */
export const missedIn = (outcomes: readonly Outcome[]): readonly Cell[] =>
  [...byCell(outcomes).values()].flatMap((group) => {
    const { cell } = group[0] as Outcome;
    return isMet(group, predict(cell)) ? [] : [cell];
  });

/** F3. */
function comparison({ first, again }: Runs): { missed: readonly string[]; repeated: readonly string[] } {
  const confirmed = byCell(again);
  const missedAgain = new Set(missedIn(again).map(cellName));
  const names = missedIn(first).map(cellName);
  const isMetLater = (name: string): boolean => confirmed.has(name) && !missedAgain.has(name);
  return { missed: names.filter((name) => !isMetLater(name)), repeated: names.filter(isMetLater) };
}

/** F1. */
const byCell = (outcomes: readonly Outcome[]): ReadonlyMap<string, readonly Outcome[]> =>
  grouped(
    outcomes.filter(({ hasFired }) => hasFired),
    ({ cell }) => cellName(cell),
  );

/** Tokens of the runs without a crash. */
type Plain = ReadonlyMap<string, number>;

const plainName = ({ strategy, service, variant }: Cell): string => `${strategy} ${service} ${variant}`;

function plainTokens(outcomes: readonly Outcome[]): Plain {
  const clean = outcomes.filter(({ cell }) => cell.boundary === 'clean');
  return new Map(
    [...grouped(clean, ({ cell }) => plainName(cell))].map(([name, runs]) => [
      name,
      median(runs.map(({ tokens }) => tokens)) ?? 0,
    ]),
  );
}

function cellFigures(runs: readonly Outcome[], plain: Plain, isMet: boolean): CellFigures {
  const { cell } = runs[0] as Outcome;
  return { ...cell, ...sums(runs, plain), predicted: predict(cell), isMet };
}

/** F2. */
function isMet(runs: readonly Outcome[], predicted: Prediction): boolean {
  const half = (kind: 'duplicates' | 'lost' | 'untrue'): boolean => {
    const shown = runs.filter(({ verdict }) => verdict[kind] > 0).length;
    return predicted[kind] ? shown * 2 >= runs.length : shown === 0;
  };
  return (
    half('duplicates') &&
    half('lost') &&
    half('untrue') &&
    runs.every(({ verdict, isStuck }) => !isStuck && verdict.questions === predicted.questions)
  );
}

function strategyFigures(title: string, all: readonly Outcome[], plain: Plain): StrategyFigures {
  const fired = all.filter(({ hasFired }) => hasFired);
  const own = sums(fired, plain);
  return {
    title,
    ...own,
    wrongShare: own.runs === 0 ? 0 : own.wrong / own.runs,
    wrongBetween: wilson(own.wrong, own.runs),
    questionRatio: own.questionsMinimum === 0 ? null : own.questions / own.questionsMinimum,
    unfired: all.length - fired.length,
  };
}

function sums(runs: readonly Outcome[], plain: Plain): Sums {
  const sum = (of: (run: Outcome) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const isWrong = ({ verdict: { duplicates, lost, untrue } }: Outcome): boolean =>
    duplicates + lost + untrue > 0;
  const known = runs.every(({ cell }) => plain.has(plainName(cell)) || cell.variant === 'long');
  const base = ({ cell }: Outcome): number =>
    plain.get(plainName(cell)) ?? plain.get(plainName({ ...cell, variant: 'one' })) ?? 0;
  return {
    runs: runs.length,
    duplicates: sum(({ verdict }) => verdict.duplicates),
    transient: sum(({ verdict }) => verdict.transient),
    lost: sum(({ verdict }) => verdict.lost),
    suppressed: sum(({ verdict }) => verdict.suppressed),
    untrue: sum(({ verdict }) => verdict.untrue),
    questions: sum(({ verdict }) => verdict.questions),
    questionsMinimum: sum(({ verdict }) => verdict.questionsMinimum),
    wrong: runs.filter(isWrong).length,
    stuck: runs.filter(({ isStuck }) => isStuck).length,
    extraModelCalls: sum(({ extraCalls }) => extraCalls),
    extraTokens: known ? sum((run) => run.tokens - base(run)) : null,
    stepMs: median(runs.flatMap(({ stepMs }) => (stepMs === null ? [] : [stepMs]))),
  };
}

function grouped<T>(list: readonly T[], name: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(name(one)) ?? [];
    group.push(one);
    groups.set(name(one), group);
  }
  return groups;
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

/** Wilson's interval of a share, 95%. */
function wilson(hits: number, of: number): readonly [number, number] {
  if (of === 0) return [0, 1];
  const z = 1.96;
  const share = hits / of;
  const middle = share + (z * z) / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const by = 1 + (z * z) / of;
  return [Math.max(0, (middle - spread) / by), Math.min(1, (middle + spread) / by)];
}
