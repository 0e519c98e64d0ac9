/**
 * The crash loop: run a scenario clean and count its boundaries; then, for each boundary and each side, run up to
 * there, drop everything, and run to rest again. Then the same with everything else that can happen there (`MODES`).
 */

import type { Sandbox } from '../../sandbox/port.ts';
import { essence } from './judge.ts';
import type { Crash } from './life.ts';
import type { Mutation } from './machine.ts';
import type { Note } from './meanwhile.ts';
import { run } from './run.ts';
import { NOTE, type Scenario } from './scenarios.ts';
import type { Run, RunOptions } from './trial.ts';
import { RETENTION_MS } from './world.ts';

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
  /** A planted bug; made anew for each run, so that it carries nothing from one into the next. */
  readonly mutation?: () => Mutation;
  /** Only this scenario and crash: what a failure prints. */
  readonly only?: { readonly scenario: string; readonly mode: Mode; readonly crash: Crash };
  /** Only these; by default all. */
  readonly modes?: readonly Mode[];
  /** Only boundaries of this `port.method`. */
  readonly near?: string;
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
  const { index: shard, of } = options.shard ?? { index: 0, of: 1 };
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
    const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    failures.push({ repeat, findings: [`thrown: ${said}`] });
    return null;
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
  { full = false, modes = MODES, near }: Pick<LoopOptions, 'full' | 'modes' | 'near'>,
): readonly Plan[] {
  return modes
    .filter((mode) => goesThrough(scenario, mode))
    .flatMap((mode) =>
      boundaries.flatMap((at, i) =>
        SIDES.map((side): Plan => ({ mode, at, crash: { boundary: i + 1, side } })).filter(
          ({ crash }) =>
            (near === undefined || at === near) &&
            (ONLY_AT[mode]?.test(at) ?? true) &&
            (full ||
              !(
                isLikeAnother(at, mode, crash.side, boundaries.slice(i + 1, i + 3)) || isIdle(boundaries, i)
              )) &&
            (mode !== 'decide' || decidable.has(i + 1)) &&
            ((mode !== 'freeze' && mode !== 'contend') || mayFreeze(scenario, at, crash)),
        ),
      ),
    );
}

const goesThrough = ({ modes, except }: Scenario, mode: Mode): boolean =>
  (modes?.includes(mode) ?? true) && !except?.includes(mode);

const SIDES = ['before', 'after'] as const;

/** Calls that change nothing that outlives the machine. */
const READS =
  /\.(row|read|due|nextDue|findStart|blob|create|restore|replay|base|find|generate|budget|apply|close)$/;

/**
 * Whether a run leaves behind what a neighbour leaves: around a read all is as after the boundary before it, and to
 * freeze or to act after a boundary is, but for a microtask, to do so before the next one.
 */
function isLikeAnother(at: string, mode: Mode, side: Crash['side'], then: readonly string[]): boolean {
  // Between a mark and its request there is a look at the lease.
  const isWindow =
    (mode === 'freeze' || mode === 'contend') &&
    at.endsWith('.commit') &&
    then.some((next) => next.endsWith('.run'));
  const dies = mode === 'crash' || mode === 'down';
  return (READS.test(at) && !(mode in ONLY_AT)) || (!dies && side === 'after' && !isWindow);
}

/** The sweeper's looks while nobody comes for long: what ends at one of them is as if it had ended at the first. */
function isIdle(boundaries: readonly string[], i: number): boolean {
  return [i - 2, i - 1, i].every((at) => /\.(due|nextDue)$/.test(boundaries[at] ?? ''));
}

/**
 * What happens at a boundary: the machine dies; it freezes and goes on when its successor rests, or as soon as that
 * one holds the session; somebody else sends, stops, interrupts, holds, decides or forks; the clock on the wall jumps; the store
 * takes nothing for a while; or the machine dies, and nobody comes for hours.
 */
export const MODES = [
  ...([
    'crash',
    'freeze',
    'contend',
    'send',
    'urge',
    'stop',
    'interrupt',
    'pause',
    'decide',
    'fork',
  ] as const),
  ...(['forward', 'back', 'outage', 'down'] as const),
] as const;
export type Mode = (typeof MODES)[number];

const HOUR_MS = 3_600_000;
/** Longer than a holder tries again, so that it ends with answers in hand. */
const OUTAGE_MS = 20_000;

/** Those that can only matter at some boundaries: while a reply is on its way, and while an answer is. */
const ONLY_AT: Partial<Record<Mode, RegExp>> = {
  urge: /\.generate$/,
  outage: /\.run$/,
  down: /\.run$/,
};

const NOTES: readonly Note[] = [
  { text: `${NOTE} hello`, when: 'next' },
  { text: `${NOTE} again`, when: 'next' },
  { text: `${NOTE} whenever`, when: 'later' },
];

const MODE_OPTIONS: Record<Mode, (crash: Crash) => Partial<RunOptions>> = {
  crash: (crash) => ({ crashes: [crash] }),
  freeze: (freeze) => ({ freeze }),
  contend: (freeze) => ({ freeze, contend: true }),
  send: (at) => ({ meanwhile: { ...at, act: { do: 'send', messages: NOTES } } }),
  urge: (at) => ({
    meanwhile: { ...at, act: { do: 'send', messages: [{ text: `${NOTE} at once`, when: 'now' }] } },
  }),
  stop: (at) => ({ meanwhile: { ...at, act: { do: 'stop' } } }),
  interrupt: (at) => ({ meanwhile: { ...at, act: { do: 'interrupt' } } }),
  pause: (at) => ({ meanwhile: { ...at, act: { do: 'pause' } } }),
  decide: (at) => ({ meanwhile: { ...at, act: { do: 'decide' } } }),
  fork: (at) => ({ meanwhile: { ...at, act: { do: 'fork' } } }),
  forward: (at) => ({ meanwhile: { ...at, act: { do: 'jump', ms: HOUR_MS } } }),
  back: (at) => ({ meanwhile: { ...at, act: { do: 'jump', ms: -HOUR_MS } } }),
  down: (crash) => ({ crashes: [crash], downMs: RETENTION_MS + 60_000 }),
  outage: (at) => ({ meanwhile: { ...at, act: { do: 'outage', ms: OUTAGE_MS } } }),
};

/** Those after which the end is that of the clean run; the others change the course, as they should. */
const KEEPS_COURSE: ReadonlySet<Mode> = new Set([
  ...(['crash', 'freeze', 'contend', 'pause', 'fork', 'forward', 'back', 'outage', 'down'] as const),
]);

/**
 * Where a machine that freezes and goes on can still do something that its successor cannot know of, and that no log can
 * prevent. Stated in the docs, not simulated away: a request to a service without any means against it (`post`), frozen
 * between the look at the lease and the first byte; and a person's own stop, held in the frozen machine and applied
 * late, since inputs need no lease.
 */
function mayFreeze(scenario: Scenario, at: string, crash: Crash): boolean {
  return !isWindow(scenario, at, crash) && !scenario.acts.some((act) => act.do === 'stop');
}

const isWindow = ({ wanted }: Scenario, at: string, { side }: Crash): boolean =>
  Object.keys(wanted).some((name) => name.startsWith('post:')) && at.endsWith('.run') && side === 'before';

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
  const { transcript, inbox, turn, lifetime } = witness.state;
  const read = transcript.flatMap((item) =>
    item.kind === 'message' && item.message.text.startsWith(NOTE) ? [item.message.text] : [],
  );
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
  const asked =
    verdict.questions === verdict.questionsMinimum
      ? []
      : [`${verdict.questions} questions were asked where ${verdict.questionsMinimum} had to be`];
  const broken = [...verdict.broken, ...differs, ...asked, ...more];
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
