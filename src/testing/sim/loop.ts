/**
 * The crash loop: run a scenario clean and count its boundaries; then, for each boundary and each side, run up to
 * there, drop everything, and run to rest again. Then the same with everything else that can happen there (`MODES`).
 */

import type { Sandbox } from '../../sandbox/port.ts';
import { essence } from './judge.ts';
import type { Crash } from './life.ts';
import { type Mutation, type Run, type RunOptions, run } from './run.ts';
import { NOTE, type Scenario } from './scenarios.ts';

export interface Totals {
  scenarios: number;
  boundaries: number;
  runs: number;
  crashes: number;
  /** Runs in which somebody else's act, or a jump of the clock, took effect. */
  injected: number;
  duplicates: number;
  lost: number;
  untrue: number;
  stuck: number;
  broken: number;
  questions: number;
  questionsMinimum: number;
}

export interface Failure {
  /** Repeats this run. */
  readonly repeat: string;
  readonly findings: readonly string[];
}

export interface LoopOptions {
  readonly scenarios: readonly Scenario[];
  readonly sandbox: () => Sandbox;
  readonly mutation?: Mutation;
  /** Only this scenario and crash: what a failure prints. */
  readonly only?: { readonly scenario: string; readonly mode: Mode; readonly crash: Crash };
  /** Only these; by default all. */
  readonly modes?: readonly Mode[];
  /** Both sides of every boundary in every mode, also where they cannot differ. */
  readonly full?: boolean;
  /** Does only every `of`-th run; the clean runs are done by each. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** Ends the loop at the first failure; for planted bugs. */
  readonly untilFailure?: boolean;
  readonly onRun?: (name: string, done: number, of: number) => void;
}

export async function crashLoop(options: LoopOptions): Promise<{ totals: Totals; failures: Failure[] }> {
  const totals = zero();
  const failures: Failure[] = [];
  for (const scenario of options.scenarios) {
    if (options.only && options.only.scenario !== scenario.name) continue;
    await loopScenario(scenario, options, totals, failures);
    if (options.untilFailure && failures.length > 0) break;
  }
  return { totals, failures };
}

async function loopScenario(
  scenario: Scenario,
  options: LoopOptions,
  totals: Totals,
  failures: Failure[],
): Promise<void> {
  const { sandbox, mutation } = options;
  const common = mutation ? { sandbox, mutation } : { sandbox };
  const clean = await run(scenario, common);
  const n = clean.boundaries.length;
  totals.scenarios++;
  totals.boundaries += n;
  const expected = JSON.stringify(essence(clean.witness.state));
  tally(clean, `--scenario "${scenario.name}"`, totals, failures);
  const plans = options.only
    ? [{ ...options.only, at: clean.boundaries[options.only.crash.boundary - 1] ?? '' }]
    : plansOf(scenario, clean, options);
  const { index: shard, of } = options.shard ?? { index: 0, of: 1 };
  for (const [index, { mode, crash, at }] of plans.entries()) {
    if (options.untilFailure && failures.length > 0) return;
    if (index % of !== shard) continue;
    const repeat = `--scenario "${scenario.name}" --mode ${mode} --boundary ${crash.boundary} --side ${crash.side}`;
    const result = await run(scenario, { ...common, ...MODE_OPTIONS[mode](crash) });
    const more = KEEPS_COURSE.has(mode) ? [] : noteFindings(result);
    tally(
      result,
      `${repeat}  # ${at}`,
      totals,
      failures,
      KEEPS_COURSE.has(mode) ? expected : undefined,
      more,
    );
    options.onRun?.(scenario.name, index + 1, plans.length);
  }
}

/**
 * A crash during recovery, exhaustively: for each crash, its recovery is run clean and counted, and crashed again at
 * each of its own boundaries.
 */
export async function pairLoop(options: LoopOptions): Promise<{ totals: Totals; failures: Failure[] }> {
  const totals = zero();
  const failures: Failure[] = [];
  const { sandbox } = options;
  const { index: shard, of } = options.shard ?? { index: 0, of: 1 };
  for (const scenario of options.scenarios) {
    const clean = await run(scenario, { sandbox });
    totals.scenarios++;
    totals.boundaries += clean.boundaries.length;
    const expected = JSON.stringify(essence(clean.witness.state));
    const firsts = plansOf(scenario, clean, { modes: ['crash'] });
    for (const [i, { crash: first }] of firsts.entries()) {
      if (i % of !== shard) continue;
      const recovery = (await run(scenario, { sandbox, crashes: [first] })).lives[1] ?? [];
      for (const { crash: second } of plansOf(
        scenario,
        { ...clean, boundaries: recovery },
        { modes: ['crash'] },
      )) {
        const both = await run(scenario, { sandbox, crashes: [first, second] });
        const at = [first, second].map(({ boundary, side }) => `${side} ${boundary}`).join(', then ');
        tally(both, `--pairs --scenario "${scenario.name}"  # ${at}`, totals, failures, expected);
      }
      options.onRun?.(scenario.name, i + 1, firsts.length);
    }
  }
  return { totals, failures };
}

interface Plan {
  readonly mode: Mode;
  readonly crash: Crash;
  /** `port.method`, for people. */
  readonly at: string;
}

/** Everything that can go wrong at every boundary of a clean run; `full` leaves nothing out. */
function plansOf(
  scenario: Scenario,
  { boundaries, decidable }: Pick<Run, 'boundaries' | 'decidable'>,
  { full = false, modes = MODES }: Pick<LoopOptions, 'full' | 'modes'>,
): readonly Plan[] {
  return modes.flatMap((mode) =>
    boundaries.flatMap((at, i) =>
      SIDES.map((side): Plan => ({ mode, at, crash: { boundary: i + 1, side } })).filter(
        ({ crash }) =>
          (full || !(isLikeAnother(at, mode, crash.side) || isIdle(boundaries, i))) &&
          (mode !== 'decide' || decidable.has(i + 1)) &&
          ((mode !== 'freeze' && mode !== 'contend') || mayFreeze(scenario, at, crash)),
      ),
    ),
  );
}

const SIDES = ['before', 'after'] as const;

/** Calls that change nothing that outlives the machine. */
const READS = /\.(row|read|due|nextDue|findStart|blob|create|restore|replay|base|find|generate|apply|close)$/;

/**
 * Whether a run leaves behind what a neighbour leaves: around a read all is as after the boundary before it, and to
 * freeze or to act after a boundary is, but for a microtask, to do so before the next one.
 */
function isLikeAnother(at: string, mode: Mode, side: Crash['side']): boolean {
  return READS.test(at) || (mode !== 'crash' && side === 'after');
}

/** The sweeper's looks while nobody comes for long: what ends at one of them is as if it had ended at the first. */
function isIdle(boundaries: readonly string[], i: number): boolean {
  return [i - 2, i - 1, i].every((at) => /\.(due|nextDue)$/.test(boundaries[at] ?? ''));
}

/**
 * What happens at a boundary: the machine dies; it freezes and goes on when its successor rests, or as soon as that
 * one holds the session; somebody else sends, stops, interrupts, holds or decides; the clock on the wall jumps.
 */
export const MODES = [
  ...(['crash', 'freeze', 'contend', 'send', 'stop', 'interrupt', 'pause', 'decide'] as const),
  ...(['forward', 'back'] as const),
] as const;
export type Mode = (typeof MODES)[number];

const HOUR_MS = 3_600_000;

const MODE_OPTIONS: Record<Mode, (crash: Crash) => Partial<RunOptions>> = {
  crash: (crash) => ({ crashes: [crash] }),
  freeze: (freeze) => ({ freeze }),
  contend: (freeze) => ({ freeze, contend: true }),
  send: (at) => ({ meanwhile: { ...at, act: { do: 'send', text: `${NOTE} hello` } } }),
  stop: (at) => ({ meanwhile: { ...at, act: { do: 'stop' } } }),
  interrupt: (at) => ({ meanwhile: { ...at, act: { do: 'interrupt' } } }),
  pause: (at) => ({ meanwhile: { ...at, act: { do: 'pause' } } }),
  decide: (at) => ({ meanwhile: { ...at, act: { do: 'decide' } } }),
  forward: (at) => ({ meanwhile: { ...at, act: { do: 'jump', ms: HOUR_MS } } }),
  back: (at) => ({ meanwhile: { ...at, act: { do: 'jump', ms: -HOUR_MS } } }),
};

/** Those after which the end is that of the clean run; the others change the course, as they should. */
const KEEPS_COURSE: ReadonlySet<Mode> = new Set([
  ...(['crash', 'freeze', 'contend', 'pause', 'forward', 'back'] as const),
]);

/**
 * Where a machine that freezes and goes on can still do something that its successor cannot know of, and that no log can
 * prevent. Stated in the docs, not simulated away: a request to a service without any means against it (`post`), frozen
 * between the look at the lease and the first byte; and a person's own stop, held in the frozen machine and applied
 * late, since inputs need no lease.
 */
function mayFreeze({ wanted, acts }: Scenario, at: string, { side }: Crash): boolean {
  const hasBlind = Object.keys(wanted).some((name) => name.startsWith('post:'));
  const isWindow = hasBlind && at.endsWith('.run') && side === 'before';
  return !isWindow && !acts.some((act) => act.do === 'stop');
}

/** A message sent meanwhile is read once and answered, without anybody doing anything more. */
function noteFindings({ witness }: Run): readonly string[] {
  const { transcript, inbox, turn } = witness.state;
  const read = transcript.filter(
    (item) => item.kind === 'message' && item.message.text.startsWith(NOTE),
  ).length;
  const stopped = witness.state.lifetime.status === 'stopped';
  const found = [];
  if (read > 1) found.push(`the note was read ${read} times`);
  if (inbox.unread.length > 0 && !stopped) found.push('the note was never read');
  if (turn !== null) found.push('a turn is left open');
  return found;
}

export function tally(
  { verdict, witness, crashes, injected }: Run,
  repeat: string,
  totals: Totals,
  failures: Failure[],
  expected?: string,
  more: readonly string[] = [],
): void {
  totals.runs++;
  totals.crashes += crashes;
  totals.injected += injected ? 1 : 0;
  totals.duplicates += verdict.duplicates.length;
  totals.lost += verdict.lost.length;
  totals.untrue += verdict.untrue.length;
  totals.stuck += verdict.stuck.length;
  totals.questions += verdict.questions;
  totals.questionsMinimum += verdict.questionsMinimum;
  const found = JSON.stringify(essence(witness.state));
  const differs =
    expected !== undefined && found !== expected ? [`end differs\n  ${expected}\n  ${found}`] : [];
  const broken = [...verdict.broken, ...differs, ...more];
  totals.broken += broken.length;
  const findings = [
    ...verdict.duplicates.map((text) => `duplicate: ${text}`),
    ...verdict.lost.map((text) => `lost: ${text}`),
    ...verdict.untrue.map((text) => `untrue: ${text}`),
    ...verdict.stuck.map((text) => `stuck: ${text}`),
    ...broken.map((text) => `broken: ${text}`),
  ];
  if (findings.length > 0) failures.push({ repeat, findings });
}

export function zero(): Totals {
  return {
    scenarios: 0,
    boundaries: 0,
    runs: 0,
    crashes: 0,
    injected: 0,
    duplicates: 0,
    lost: 0,
    untrue: 0,
    stuck: 0,
    broken: 0,
    questions: 0,
    questionsMinimum: 0,
  };
}
