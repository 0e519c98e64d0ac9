/**
 * The children of a run, and theirs: each is followed in its own log and judged by itself, and the edges of the tree
 * are judged from both ends.
 *
 * K1  One child for each order that was done, and no session that nobody knows of.
 * K2  Each result reaches the parent once; at the end none is due.
 * K3  A child does nothing while its parent is stopped.
 * K4  A tree is deleted whole and from below: no child is left without its parent, and none goes after it.
 */

import { asksAboutEffect, fewestQuestions } from '../../break/questions.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import type { SessionId } from '../../core/ids.ts';
import { phase } from '../../core/phase.ts';
import { openDecisions, type State } from '../../core/state.ts';
import { decode } from '../../core/upcast.ts';
import type { Store } from '../../store/port.ts';
import { seenBy } from './branch.ts';
import { described, judgeLedger, waitsInVain } from './judge.ts';
import { Witness } from './witness.ts';
import type { World } from './world.ts';

interface Child {
  readonly witness: Witness;
  readonly world: World;
  readonly events: (Event | ForeignEvent)[];
}

export class Kindred {
  private readonly world: World;
  private readonly children = new Map<SessionId, Child>();

  constructor(world: World) {
    this.world = world;
  }

  /** Whether a parent does not have all results yet. */
  get isDue(): boolean {
    return [...this.children.values()].some(({ witness }) => witness.state.family.due.length > 0);
  }

  get ids(): readonly SessionId[] {
    return [...this.children.keys()];
  }

  has(reference: string): boolean {
    return this.children.has(reference.split('.')[0] as SessionId);
  }

  witnessOf(session: SessionId): Witness | undefined {
    return this.children.get(session)?.witness;
  }

  /** A session of the store that the run did not start itself. */
  async look(session: SessionId, store: Store): Promise<void> {
    const world = seenBy(this.world, (reference) => reference.startsWith(`${session}.`));
    const child = this.children.get(session) ?? { witness: new Witness(world), world, events: [] };
    this.children.set(session, child);
    const news = (await store.read(session, child.events.length, 10_000)).map(decode);
    child.events.push(...news);
    const forked = news.findLast((event) => event.kind === 'session.forked')?.seq ?? 0;
    child.witness.inherited(news.filter(({ seq }) => seq < forked));
    child.witness.committed(news.filter(({ seq }) => seq >= forked));
  }

  /** A question of a child that a person can answer now. */
  asking(): { readonly session: SessionId; readonly state: State } | undefined {
    for (const [session, { witness }] of this.children) {
      if (openDecisions(witness.state).length > 0) return { session, state: witness.state };
    }
    return undefined;
  }

  get questions(): { readonly asked: number; readonly fewest: number } {
    const all = [...this.children.values()].map(({ events }) => events);
    return {
      asked: all.flatMap((events) => events.filter(asksAboutEffect)).length,
      fewest: all.reduce((sum, events) => sum + fewestQuestions(events), 0),
    };
  }

  /** At the end: `root` is the session of the run. */
  findings(root: SessionId, state: State, events: readonly (Event | ForeignEvent)[]) {
    const all = [...this.children].map(([id, child]) => ({ id, ...child, state: child.witness.state }));
    const logs: Logs = new Map<SessionId, Seen>([[root, { state, events }], ...all.map(seen)]);
    const untrue = all.flatMap(({ witness, world }) => [
      ...witness.untrue,
      ...judgeLedger(ownOnly(witness.state), world),
    ]);
    const broken = all.flatMap(({ witness }) => [...witness.broken, ...waitsInVain(witness.state)]);
    const edges = all.flatMap(({ id, state: child }) => edge(id, child, logs));
    const unruly = all.flatMap(({ id, state: child, events: log }) => worksOn(id, child, log, logs));
    const orders = [...logs.values()].flatMap(({ state: s, events: log }) => orphaned(s, log));
    const stuck = all
      .filter(({ state: child }) => !RESTS.has(phase(child)) && !isGone(child))
      .map(({ id, state: child }) => `${id} did not come to rest: ${described(child)}`);
    return {
      untrue: untrue.map(ofChild),
      broken: [...broken.map(ofChild), ...edges, ...orders, ...unruly],
      stuck,
    };
  }
}

const RESTS: ReadonlySet<string> = new Set(['awaiting_input', 'completed', 'stopped']);
const isGone = ({ retention }: State): boolean => retention.deleted !== null;
const ofChild = (finding: string): string => `child: ${finding}`;

interface Seen {
  readonly state: State;
  readonly events: readonly (Event | ForeignEvent)[];
}

type Logs = ReadonlyMap<SessionId, Seen>;

const seen = ({ id, state, events }: Seen & { readonly id: SessionId }): readonly [SessionId, Seen] => [
  id,
  { state, events },
];

/** K2. */
function edge(id: SessionId, child: State, logs: Logs): readonly string[] {
  const { parent, due } = child.family;
  const above = parent && logs.get(parent.session);
  if (!parent || !above) return [`${id} is nobody's child`];
  if (isGone(child) || isGone(above.state)) return goneWith(id, child, above.state);
  const told = above.events.flatMap((event) =>
    event.kind === 'child.reported' && event.child === id && event.result ? [event.result.seq] : [],
  );
  const known = above.state.family.children.find((one) => one.id === id);
  const isBarred = above.state.family.barred.includes(parent.effect);
  return [
    ...(due.length === 0 ? [] : [`${id} has ${due.length} results that its parent does not have`]),
    ...(new Set(told).size === told.length ? [] : [`a result of ${id} was told twice`]),
    ...(known || isBarred ? [] : [`${id} is not known to its parent`]),
    ...(known && known.asked.length > 0 ? [`${id} owes its parent a result`] : []),
  ];
}

/** K4. What was told and known of it went with the logs. */
function goneWith(id: SessionId, child: State, above: State): readonly string[] {
  if (!isGone(child)) return [`${id} outlives its parent`];
  if (!isGone(above)) return [`${id} was deleted, and its parent was not`];
  return child.at <= above.at ? [] : [`${id} was deleted after its parent`];
}

/** K3. */
function worksOn(id: SessionId, child: State, log: Seen['events'], logs: Logs): readonly string[] {
  const above = logs.get(child.family.parent?.session as SessionId)?.events ?? [];
  const stopped = above.find(({ kind }) => kind === 'session.stopped');
  const reopened = above.find(({ kind }) => kind === 'session.reopened')?.at ?? Number.POSITIVE_INFINITY;
  if (!stopped) return [];
  const isIt = log.some(({ kind, at }) => kind === 'step.started' && at > stopped.at && at < reopened);
  return isIt ? [`${id} works although its parent is stopped`] : [];
}

/** K1. */
function orphaned({ effects, family }: State, events: readonly (Event | ForeignEvent)[]): readonly string[] {
  const own = new Set(
    events.flatMap((event) => (event.kind === 'effect.intended' && event.family ? [event.effect] : [])),
  );
  const spawned = effects.closed.filter(
    ({ id, family: use, status }) => own.has(id) && use === 'spawns' && status === 'done',
  );
  const missing = spawned.filter(({ id }) => !family.children.some((child) => child.effect === id));
  return missing.map(({ id }) => `the child of ${id} is in no list`);
}

/** Without what was settled by the original of a fork. */
const ownOnly = (s: State): State =>
  s.fork === null
    ? s
    : {
        ...s,
        effects: {
          ...s.effects,
          closed: s.effects.closed.filter(({ settledSeq }) => (settledSeq ?? 0) > (s.fork?.seq ?? 0)),
        },
      };
