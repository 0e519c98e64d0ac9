/** What can happen at a boundary, and at which boundaries it is worth a run. */

import type { Crash } from './life.ts';
import type { Note } from './meanwhile.ts';
import { NOTE } from './reply.ts';
import type { Run, RunOptions } from './run.ts';
import type { Scenario } from './scenario.ts';
import { RETENTION_MS } from './world.ts';

/**
 * What happens at a boundary: the machine dies; it freezes and goes on when its successor rests, or as soon as that
 * one holds the session, or sends what it had in hand itself; it dies, and each that follows dies at its own such
 * boundary; somebody else sends, stops, interrupts, holds, decides or forks; the clock on the wall jumps; the store
 * takes nothing for a while; the provider is overloaded, or its answer is torn in the middle; or the machine dies, and
 * nobody comes for hours.
 */
export const MODES = [
  ...(['crash', 'again', 'freeze', 'contend', 'overtake'] as const),
  ...(['send', 'urge', 'stop', 'interrupt', 'pause', 'decide', 'fork'] as const),
  ...(['forward', 'back', 'outage', 'overload', 'tear', 'down'] as const),
] as const;
export type Mode = (typeof MODES)[number];

/** Which of all that can happen. */
export interface Selection {
  /** Only these; by default all. */
  readonly modes?: readonly Mode[];
  /** Only boundaries of this `port.method`. */
  readonly near?: string;
  /** Both sides of every boundary in every mode, also where they cannot differ. */
  readonly full?: boolean;
}

export interface Plan {
  readonly mode: Mode;
  readonly crash: Crash;
  /** `port.method`, for people. */
  readonly at: string;
}

/** Everything that can go wrong at every boundary of a clean run; `full` leaves nothing out. */
export function plansOf(
  scenario: Scenario,
  { boundaries, decidable }: Pick<Run, 'boundaries' | 'decidable'>,
  { full = false, modes = MODES, near }: Selection,
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
              !(isLikeAnother(at, mode, crash.side, leavesSoon(boundaries, i)) || isIdle(boundaries, i))) &&
            (mode !== 'outage' || at.endsWith('.run') || !scenario.hasChildren) &&
            (mode !== 'decide' || decidable.has(i + 1)) &&
            (mode !== 'overtake' || (crash.side === 'after' && leavesSoon(boundaries, i))) &&
            (!FREEZES.has(mode) || mayFreeze(scenario, at, crash)),
        ),
      ),
    );
}

export const goesThrough = ({ modes, except }: Scenario, mode: Mode): boolean =>
  (modes?.includes(mode) ?? true) && !except?.includes(mode);

const SIDES = ['before', 'after'] as const;

/** Calls that change nothing that outlives the machine. */
const READS =
  /\.(row|read|due|nextDue|queue|list|findStart|blob|create|restore|replay|base|find|generate|budget|apply|close)$/;

/**
 * Whether a run leaves behind what a neighbour leaves: around a read all is as after the boundary before it, and to
 * freeze or to act after a boundary is, but for a microtask, to do so before the next one.
 */
function isLikeAnother(at: string, mode: Mode, side: Crash['side'], isWindow: boolean): boolean {
  const isOwn = DIES.has(mode) || (FREEZES.has(mode) && isWindow);
  return (READS.test(at) && !(mode in ONLY_AT)) || (!isOwn && side === 'after');
}

/** Between a mark and its request there is a look at the lease. */
const leavesSoon = (boundaries: readonly string[], i: number): boolean =>
  (boundaries[i] ?? '').endsWith('.commit') &&
  boundaries.slice(i + 1, i + 3).some((at) => at.endsWith('.run'));

/** The sweeper's looks while nobody comes for long: what ends at one of them is as if it had ended at the first. */
function isIdle(boundaries: readonly string[], i: number): boolean {
  return [i - 2, i - 1, i].every((at) => /\.(due|nextDue)$/.test(boundaries[at] ?? ''));
}

const DIES: ReadonlySet<Mode> = new Set<Mode>(['crash', 'again', 'down']);
const FREEZES: ReadonlySet<Mode> = new Set<Mode>(['freeze', 'contend', 'overtake']);
/** More than a session bears of those that do not get ahead (`DEATHS`). */
const IN_A_ROW = 5;
const HOUR_MS = 3_600_000;
/** Longer than a holder tries again, so that it ends with answers in hand. */
const OUTAGE_MS = 20_000;

/**
 * Those that can only matter at some boundaries: while a reply is on its way, and while an answer is. A store that takes
 * nothing is noticed by the next commit: so it goes away right before each, and while an answer is on its way; among
 * children only the latter, since what comes of several during an outage is read in one turn, and not in one for each.
 */
const ONLY_AT: Partial<Record<Mode, RegExp>> = {
  again: /\.commit$/,
  urge: /\.generate$/,
  outage: /\.(run|commit)$/,
  overload: /\.generate$/,
  tear: /\.generate$/,
  down: /\.run$/,
};

const NOTES: readonly Note[] = [
  { text: `${NOTE} hello`, when: 'next' },
  { text: `${NOTE} again`, when: 'next' },
  { text: `${NOTE} whenever`, when: 'later' },
];

export const MODE_OPTIONS: Record<Mode, (crash: Crash) => Partial<RunOptions>> = {
  crash: (crash) => ({ crashes: [crash] }),
  again: (crash) => ({ crashes: Array<Crash>(IN_A_ROW).fill(crash) }),
  freeze: (freeze) => ({ freeze }),
  contend: (freeze) => ({ freeze, thaws: 'held' }),
  overtake: (freeze) => ({ freeze, thaws: 'sent' }),
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
  overload: (at) => ({ meanwhile: { ...at, act: { do: 'fail', how: 'overloaded' } } }),
  tear: (at) => ({ meanwhile: { ...at, act: { do: 'fail', how: 'incomplete' } } }),
};

/** Those after which the end is that of the clean run; the others change the course, as they should. */
export const KEEPS_COURSE: ReadonlySet<Mode> = new Set([
  ...([
    'crash',
    'again',
    'freeze',
    'contend',
    'overtake',
    'pause',
    'fork',
    'forward',
    'back',
    'outage',
    'overload',
    'tear',
    'down',
  ] as const),
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

export const isWindow = ({ wanted }: Scenario, at: string, { side }: Crash): boolean =>
  Object.keys(wanted).some((name) => name.startsWith('post:')) && at.endsWith('.run') && side === 'before';
