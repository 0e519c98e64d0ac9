/** What a conversation did with a request, from its log, against what was wanted. No word that it said is looked at. */

import type { Event, ForeignEvent } from '../../core/event.ts';
import { isRecord } from '../../lib/json.ts';
import type { Case, Wanted } from './cases.ts';

/** What went wrong, by what a person would notice of it. */
export type Fault =
  | 'kept for nothing'
  | 'closed too early'
  | 'started too many'
  | 'started too few'
  | 'told the wrong task'
  | 'told no task'
  | 'stopped the wrong task'
  | 'stopped no task'
  | 'no answer';

export interface Did {
  readonly starts: readonly ('open' | 'one-shot')[];
  readonly tells: readonly string[];
  readonly stops: readonly string[];
  readonly answered: boolean;
}

/** Of all that stands behind `after`: orders that were done, and whether the person got an answer. */
export function didOf(
  log: readonly (Event | ForeignEvent)[],
  after: number,
  titleOf: (session: string) => string,
): Did {
  const done = new Set(
    log.flatMap((e) => (e.kind === 'effect.settled' && e.outcome.status === 'done' ? [e.effect] : [])),
  );
  const orders = log.flatMap((e) =>
    e.kind === 'effect.intended' && e.seq > after && done.has(e.effect) ? [e] : [],
  );
  const of = (use: string) => orders.filter(({ family }) => family === use);
  return {
    starts: of('spawns').map(({ args }) => (isRecord(args) && args.persist === true ? 'open' : 'one-shot')),
    tells: of('instructs').map(({ target }) => titleOf(target)),
    stops: of('stops').map(({ target }) => titleOf(target)),
    answered: log.some((e) => e.kind === 'response.surfaced' && e.seq > after && e.answers.length > 0),
  };
}

export function faults({ wanted }: Pick<Case, 'wanted'>, did: Did): readonly Fault[] {
  return [
    ...startFaults(wanted, did),
    ...listFaults(wanted.tells ?? [], did.tells, 'told the wrong task', 'told no task'),
    ...listFaults(wanted.stops ?? [], did.stops, 'stopped the wrong task', 'stopped no task'),
    ...(did.answered ? [] : (['no answer'] as const)),
  ];
}

function startFaults({ starts = [] }: Wanted, did: Did): readonly Fault[] {
  if (did.starts.length > starts.length) return ['started too many'];
  if (did.starts.length < starts.length) return ['started too few'];
  const open = (all: readonly string[]): number => all.filter((one) => one === 'open').length;
  const more = open(did.starts) - open(starts);
  return more === 0 ? [] : [more > 0 ? 'kept for nothing' : 'closed too early'];
}

function listFaults(
  wanted: readonly string[],
  did: readonly string[],
  wrong: Fault,
  none: Fault,
): readonly Fault[] {
  const isStrange = did.some((title) => !wanted.includes(title));
  const isMissing = wanted.some((title) => !did.includes(title));
  return [...(isStrange ? [wrong] : []), ...(isMissing && !isStrange ? [none] : [])];
}

export interface Scored {
  readonly case: Case;
  readonly did: Did | null;
  readonly faults: readonly (Fault | 'could not be run')[];
}

/** Lines of a table: per group, and of each fault how often. */
export function tally(all: readonly Scored[]): readonly string[] {
  const right = (some: readonly Scored[]): string =>
    `${some.filter(({ faults: found }) => found.length === 0).length} of ${some.length}`;
  const groups = [...new Set(all.map((one) => one.case.group))];
  const found = all.flatMap((one) => one.faults);
  return [
    ...groups.map((name) => `${right(all.filter((one) => one.case.group === name)).padEnd(10)} ${name}`),
    `${right(all).padEnd(10)} all`,
    ...[...new Set(found)].map((fault) => `${fault}: ${found.filter((one) => one === fault).length}`),
  ];
}
