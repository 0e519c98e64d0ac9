/**
 * The crash loop: run a scenario clean and count its boundaries; then, for each boundary and each side, run up to
 * there, drop everything, and run to rest again. Then the same with everything else that can happen there (`MODES`).
 */

import type { Sandbox } from '../../sandbox/port.ts';
import { type Shard, WHOLE } from '../shards.ts';
import { essence, said } from './judge.ts';
import type { Crash } from './life.ts';
import type { Mutation } from './machine.ts';
import { isWindow, KEEPS_COURSE, MODE_OPTIONS, type Mode, plansOf, type Selection } from './modes.ts';
import { NOTE } from './reply.ts';
import { type Run, type RunOptions, run } from './run.ts';
import type { Scenario } from './scenario.ts';
import { added, type Counts, countsOf, findingsOf } from './verdict.ts';

export interface Totals extends Counts {
  scenarios: number;
  boundaries: number;
  runs: number;
  crashes: number;
  /** Runs in which somebody else's act, or a jump of the clock, took effect. */
  injected: number;
}

export interface Failure {
  /** Repeats this run. */
  readonly repeat: string;
  readonly findings: readonly string[];
}

export interface LoopOptions extends Selection {
  readonly scenarios: readonly Scenario[];
  readonly sandbox: () => Sandbox;
  /** A planted bug; made anew for each run, so that it carries nothing from one into the next. */
  readonly mutation?: () => Mutation;
  /** Only this scenario and crash: what a failure prints. */
  readonly only?: { readonly scenario: string; readonly mode: Mode; readonly crash: Crash };
  /** Does only every `of`-th run; the clean runs are done by each. */
  readonly shard?: Shard;
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
  const clean = await tried(scenario, options, {}, `--scenario "${scenario.name}"`, failures);
  if (!clean) return;
  const n = clean.boundaries.length;
  totals.scenarios++;
  totals.boundaries += n;
  const expected = JSON.stringify(essence(clean.witness.state));
  tally(clean, `--scenario "${scenario.name}"`, totals, failures);
  const plans = options.only
    ? [{ ...options.only, at: clean.boundaries[options.only.crash.boundary - 1] ?? '' }]
    : plansOf(scenario, clean, options);
  const { index: shard, of } = options.shard ?? WHOLE;
  for (const [index, { mode, crash, at }] of plans.entries()) {
    if (options.untilFailure && failures.length > 0) return;
    if (index % of !== shard) continue;
    const repeat = `--scenario "${scenario.name}" --mode ${mode} --boundary ${crash.boundary} --side ${crash.side}`;
    const what = `${repeat}  # ${at}`;
    const result = await tried(scenario, options, MODE_OPTIONS[mode](crash), what, failures);
    if (!result) continue;
    const keepsCourse = KEEPS_COURSE.has(mode);
    const more = keepsCourse ? [] : noteFindings(result);
    tally(result, what, totals, failures, keepsCourse ? expected : undefined, more);
    options.onRun?.(scenario.name, index + 1, plans.length);
  }
}

/** A run that throws is a finding like any other: with the line that repeats it. */
async function tried(
  scenario: Scenario,
  { sandbox, mutation }: LoopOptions,
  what: Partial<RunOptions>,
  repeat: string,
  failures: Failure[],
): Promise<Run | null> {
  try {
    return await run(scenario, { sandbox, ...(mutation ? { mutation: mutation() } : {}), ...what });
  } catch (error) {
    failures.push({ repeat, findings: [thrown(error)] });
    return null;
  }
}

export const thrown = (error: unknown): string =>
  `thrown: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;

/**
 * A crash during recovery, exhaustively: for each crash, its recovery is run clean and counted, and crashed again at
 * each of its own boundaries.
 */
export async function pairLoop(options: LoopOptions): Promise<{ totals: Totals; failures: Failure[] }> {
  const totals = zero();
  const failures: Failure[] = [];
  const { sandbox } = options;
  const { index: shard, of } = options.shard ?? WHOLE;
  const mutated = () => ({ sandbox, ...(options.mutation ? { mutation: options.mutation() } : {}) });
  for (const scenario of options.scenarios) {
    const clean = await run(scenario, mutated());
    totals.scenarios++;
    totals.boundaries += clean.boundaries.length;
    const expected = JSON.stringify(essence(clean.witness.state));
    const firsts = plansOf(scenario, clean, { modes: ['crash'] });
    for (const [i, { crash: first }] of firsts.entries()) {
      if (i % of !== shard) continue;
      const recovery = (await run(scenario, { ...mutated(), crashes: [first] })).lives[1] ?? [];
      for (const { crash: second } of plansOf(
        scenario,
        { ...clean, boundaries: recovery },
        { modes: ['crash'] },
      )) {
        if (options.untilFailure && failures.length > 0) return { totals, failures };
        const both = await run(scenario, { ...mutated(), crashes: [first, second] });
        const at = [first, second].map(({ boundary, side }) => `${side} ${boundary}`).join(', then ');
        tally(both, `--pairs --scenario "${scenario.name}"  # ${at}`, totals, failures, expected);
      }
      options.onRun?.(scenario.name, i + 1, firsts.length);
    }
  }
  return { totals, failures };
}

export interface Windows {
  /** Places where a request to a service without any means may leave a machine that was frozen there. */
  windows: number;
  /** How often that was applied beside what the successor did. */
  applied: number;
}

/** What is left out of the loop, counted: freezes between the look at the lease and the first byte. */
export async function windowLoop({ scenarios, sandbox }: LoopOptions): Promise<Windows> {
  const found: Windows = { windows: 0, applied: 0 };
  for (const scenario of scenarios) {
    const { boundaries } = await run(scenario, { sandbox });
    for (const [i, at] of boundaries.entries()) {
      const freeze: Crash = { boundary: i + 1, side: 'before' };
      if (!isWindow(scenario, at, freeze)) continue;
      const { verdict } = await run(scenario, { sandbox, freeze });
      found.windows++;
      found.applied += verdict.duplicates.length;
    }
  }
  return found;
}

/** What was sent meanwhile is read once, in the order in which it came, and answered, without anybody doing more. */
export function noteFindings({ witness, notes }: Run): readonly string[] {
  const { inbox, turn, lifetime, retention } = witness.state;
  // The witness has seen to it that it was read before.
  if (retention.deleted !== null) return [];
  const read = said(witness.state).filter((text) => text.startsWith(NOTE));
  const found = [];
  const sent = notes.join(', ');
  if (lifetime.status !== 'stopped' && inbox.unread.length > 0) found.push('something was never read');
  // Before a stop takes effect it may be too late to read.
  else if (inbox.unread.length === 0 && !read.join(', ').startsWith(sent))
    found.push(`read: ${read.join(', ')}; sent: ${sent}`);
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
  const found = JSON.stringify(essence(witness.state));
  const differs =
    expected !== undefined && found !== expected ? [`end differs\n  ${expected}\n  ${found}`] : [];
  const whole = { ...verdict, broken: [...verdict.broken, ...differs, ...more] };
  const findings = findingsOf(whole);
  const counts = countsOf(whole);
  // The sums of a whole loop may be equal although two runs are not.
  if (counts.questions !== counts.questionsMinimum) counts.broken++;
  const one = { scenarios: 0, boundaries: 0, runs: 1, crashes, injected: injected ? 1 : 0, ...counts };
  Object.assign(totals, added(totals, one));
  if (findings.length > 0) failures.push({ repeat, findings });
}

export const zero = (): Totals => ({
  ...{ scenarios: 0, boundaries: 0, runs: 0, crashes: 0, injected: 0 },
  ...countsOf({
    duplicates: [],
    lost: [],
    untrue: [],
    stuck: [],
    broken: [],
    questions: 0,
    questionsMinimum: 0,
  }),
});
