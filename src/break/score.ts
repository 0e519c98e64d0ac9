/** What came of a run, in figures: the judge's verdict, and whether the run counts at all. */

import type { Capability } from '../core/capability.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import { decode } from '../core/upcast.ts';
import type { Json } from '../lib/json.ts';
import type { Store } from '../store/port.ts';
import type { Claim, Step } from './agent.ts';
import { judge, type Told, type Verdict } from './judge.ts';
import { type Cell, LAG_MS, RETENTION_MS } from './terms.ts';
import { APPLIED } from './theory.ts';
import type { Arrivals, Entry, RunWorld } from './world.ts';

export interface RunOptions {
  readonly cell: Cell;
  readonly run: string;
  readonly seed: number;
  readonly world: RunWorld;
  readonly capability: Capability;
  readonly claims?: (text: string) => readonly Claim[];
  readonly lateMs?: number;
  /** Where stores on disk go; whoever gives it removes it. Default the system's. */
  readonly tmp?: string;
}

export interface Outcome {
  readonly cell: Cell;
  readonly run: string;
  readonly seed: number;
  /** R2. */
  readonly hasFired: boolean;
  readonly isStuck: boolean;
  readonly verdict: Verdict;
  /** Beyond those of a life without a crash. */
  readonly extraCalls: number;
  readonly tokens: number;
  /** From the crash to the next durable progress; null where there was none, or nothing was left to do. */
  readonly stepMs: number | null;
}

/** What one store was, for the judge. */
export interface Shelf {
  readonly store: Store;
  readonly session: string;
}

type Log = readonly (Event | ForeignEvent)[];

export interface Course {
  readonly isStuck: boolean;
  readonly hasFired: boolean;
  readonly arrivals: Arrivals;
  readonly logs: readonly Log[];
  readonly told: readonly Told[];
  /** Model calls and their tokens, of all lives. */
  readonly calls: number;
  readonly tokens: number;
  /** Zero where nothing crashed. */
  readonly crashedAt: number;
  /** When the first life after the crash began. */
  readonly begunAt: number;
}

export async function score(options: RunOptions, course: Course): Promise<Outcome> {
  const { cell, run, seed, capability, claims, world } = options;
  const { isStuck, hasFired, arrivals, logs, told, calls, tokens, crashedAt } = course;
  const entries = await world.entries();
  const verdict = judge({
    ...{ wanted: wantedOf(world), entries, told, logs, about: aboutOf(world), capability },
    ...(claims ? { claims } : {}),
  });
  return {
    ...{ cell, run, seed, isStuck, verdict, tokens },
    hasFired: hasFired && arrivals.missed === 0 && isTimely(cell, entries, course),
    extraCalls: calls - fewestCalls(cell, world),
    stepMs: crashedAt === 0 ? null : progressAfter(logs.flat(), crashedAt),
  };
}

/** What a life needs from its beginning to the end of its first looks outside. */
const HEADSTART_MS = 170;
const SLACK_MS = 500;

/**
 * R2 of the run. A machine that stalls makes another fault of some: what was to come late came before anybody looked, what
 * was to be hidden yet is shown, what was to be remembered is forgotten. By the clock alone, whatever the strategy did.
 */
function isTimely(cell: Cell, entries: readonly Entry[], { arrivals, logs, begunAt }: Course): boolean {
  const { boundary, service, variant } = cell;
  if (boundary === 'clean' || variant === 'long') return true;
  const { lateAt } = arrivals;
  if (lateAt !== null && lateAt < begunAt + HEADSTART_MS) return false;
  const applied = lateAt ?? Math.min(...entries.map(({ at }) => at));
  if (service === 'lagging' && APPLIED.has(boundary) && begunAt + HEADSTART_MS > applied + LAG_MS)
    return false;
  const sent = Math.min(...logs.flat().flatMap(({ kind, at }) => (kind === 'effect.dispatched' ? [at] : [])));
  return service !== 'expiring' || begunAt + SLACK_MS < sent + RETENTION_MS;
}

export async function logOf({ store, session }: Shelf): Promise<readonly (Event | ForeignEvent)[]> {
  if (session === '') return [];
  return (await store.read(session as Parameters<Store['read']>[0], 0, 10_000)).map(decode);
}

/** What a transcript has: calls with their results. One without is left out, or a provider would refuse it. */
export function stepsOf(log: readonly (Event | ForeignEvent)[]): readonly Step[] {
  const calls = new Map<string, Pick<Step, 'tool' | 'args'>>();
  return log.flatMap((event): readonly Step[] => {
    if (event.kind === 'effect.intended') calls.set(event.effect, event);
    if (event.kind !== 'effect.settled' || event.outcome.status === 'unknown') return [];
    const call = calls.get(event.effect);
    return call ? [{ tool: call.tool, args: call.args, status: event.outcome.status }] : [];
  });
}

export const aboutOf =
  ({ calls }: RunWorld) =>
  (args: Json): readonly string[] =>
    calls.find((call) => JSON.stringify(call.args) === JSON.stringify(args))?.what ?? [];

function wantedOf({ calls }: RunWorld): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>();
  for (const what of calls.flatMap((call) => call.what)) wanted.set(what, (wanted.get(what) ?? 0) + 1);
  return wanted;
}

/** A model call for each round of calls, one to answer, and one when somebody asks again. */
const fewestCalls = ({ boundary }: Cell, { calls, together }: RunWorld): number =>
  (together ? 1 : calls.length) + 1 + (boundary === 'cancel' ? 1 : 0);

function progressAfter(log: readonly (Event | ForeignEvent)[], since: number): number | null {
  const steps = log.filter(
    (event) =>
      event.at >= since &&
      (event.kind === 'model.completed' ||
        (event.kind === 'effect.settled' && event.outcome.status !== 'unknown') ||
        (event.kind === 'effect.reconciled' && event.finding.status !== 'unclear')),
  );
  return steps.length === 0 ? null : Math.min(...steps.map(({ at }) => at)) - since;
}
