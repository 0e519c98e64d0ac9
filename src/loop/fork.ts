/**
 * Forking: a new session on an older commit of another one, in one commit of its own.
 *
 * O1  The original is read and not touched; nothing of the fork refers to it any more but by name. Its log stands in the
 *     fork byte for byte, and so do the blobs that the forked state still names.
 * O2  A blob that is gone or damaged is left out: the fork's heap then comes back by its journal, like any other.
 * O3  Files are its own as well: what its tree is made of is copied ahead of the commit, and that of the turn's beginning.
 */

import * as decide from '../core/decide.ts';
import { OutlastError } from '../core/error.ts';
import { fold } from '../core/evolve.ts';
import { cutAt } from '../core/fork/evolve.ts';
import { lineageOf } from '../core/fork/state.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import { goneError } from '../core/retention/gone.ts';
import type { State } from '../core/state.ts';
import { hasFiles } from '../core/turn.ts';
import { decode, encode } from '../core/upcast.ts';
import { assert } from '../lib/assert.ts';
import { summarize } from '../projections/summary.ts';
import type { Blob, Commit } from '../store/port.ts';
import { stamp } from './input.ts';
import type { Ports } from './ports.ts';
import { readBlob, readEvents, readRows } from './read.ts';
import { adopt, placeOf } from './workspace/tree-blobs.ts';

export interface ForkRequest {
  /** The last event that the fork shares; by default the newest. */
  readonly at?: number;
  readonly title?: string;
  /** What to say to the fork; without it the fork awaits its first message. */
  readonly message?: string;
  /** A repeated fork of the same session with the same key finds the fork of the first. */
  readonly key?: string | null;
}

export interface Forked {
  readonly session: SessionId;
  readonly from: SessionId;
  /** The last event that they share. */
  readonly at: number;
  /** Position of `session.forked` in the fork's log: what follows is its own. */
  readonly seq: number;
  /** Where it starts, in words; says so when that is not the very event that was asked for. */
  readonly rule: string;
}

/** A place in a log that it does not have. */
export function noSuchEvent(seq: number, head: number): OutlastError {
  return new OutlastError('request.invalid', `There is no event ${seq}: the log ends at ${head}.`, {
    next: `name one of 1 to ${head}`,
  });
}

interface Origin {
  readonly session: SessionId;
  /** As it stands now: what is sealed in it, and where it ends. */
  readonly state: State;
}

/** The fork, and its state when it was made just now. Throws `request.invalid`, `key.conflict`, `session.newer_version`. */
export async function fork(
  session: SessionId,
  origin: Origin,
  request: ForkRequest,
  owner: Owner,
  ports: Pick<Ports, 'store' | 'clock' | 'sealer'>,
): Promise<{ readonly forked: Forked; readonly state: State | null }> {
  const { commit, state, cut, asked } = await forking(session, origin, request, { by: owner }, ports);
  const startKey = request.key == null ? null : `fork ${origin.session} ${request.key}`;
  const isNew = startKey === null || (await ports.store.findStart(owner, startKey)) === null;
  if (isNew) await copyFiles(session, state, origin, ports);
  const result = await ports.store.commit({ ...commit, startKey });
  if (result.status === 'exists') {
    return { forked: await again(result.session, cut, request, ports), state: null };
  }
  assert(result.status === 'committed', 'a new session meets nobody');
  return { forked: receipt(session, state, asked), state };
}

/** Who forks, and what is other than in the original. */
type Terms = Omit<Parameters<typeof decide.fork>[2], 'title'> & { readonly messageKey?: string };

/** The one commit that makes a fork, before it is made. */
export async function forking(
  session: SessionId,
  origin: Origin,
  request: ForkRequest,
  terms: Terms,
  ports: Pick<Ports, 'store' | 'clock'>,
): Promise<{ commit: Commit; state: State; cut: number; asked: number }> {
  const { head } = origin.state;
  const asked = request.at ?? head;
  if (!Number.isInteger(asked) || asked < 1 || asked > head) throw noSuchEvent(asked, head);
  const rows = await readRows(ports.store, origin.session, Math.min(asked + 1, head));
  const events = rows.map(decode);
  const cut = cutAt(events, asked);
  const before = fold(events.slice(0, cut));
  const bodies = begin(before, origin, request, terms);
  const { state, events: own } = stamp(before, bodies, ports.clock.now());
  const commit: Commit = {
    ...{ session, head: 0, epoch: null },
    events: [...rows.slice(0, cut), ...own.map(encode)],
    blobs: await copied(state, origin.session, ports.store),
    summary: summarize(state, ports.clock.now()),
  };
  return { commit, state, cut, asked };
}

function begin(before: State, { session, state }: Origin, request: ForkRequest, terms: Terms) {
  const { messageKey: key = null, ...own } = terms;
  const lineage = lineageOf(state, session);
  const forking = decide.fork(before, { from: session, lineage }, { title: request.title, ...own });
  if (request.message === undefined) return forking;
  const forked = stamp(before, forking, before.at).state;
  const sent = decide.send(forked, request.message, { key, when: 'next' });
  return [...forking, ...('events' in sent ? sent.events : [])];
}

function receipt(session: SessionId, { fork: origin }: State, asked: number): Forked {
  assert(origin !== null, 'a fork knows where it comes from');
  const { from, head: at, seq } = origin;
  const rule =
    asked === at
      ? `starts from event ${at}`
      : `starts from event ${at}: event ${asked} belongs to a move of the sandbox that begins after it`;
  return { session, from, at, seq, rule };
}

/** The fork that stands under this key, when it is the one that is asked for again. */
async function again(
  session: SessionId,
  cut: number,
  request: ForkRequest,
  { store }: Pick<Ports, 'store'>,
): Promise<Forked> {
  const events = await readEvents(store, session);
  const gone = fold(events);
  if (gone.retention.deleted !== null) throw goneError(gone);
  const made = events.findLast((event) => event.kind === 'session.forked');
  assert(made?.kind === 'session.forked', 'what stands under the key of a fork is one');
  const first = events[made.seq];
  const said = first?.kind === 'message.accepted' ? first.text : undefined;
  // With no place given it was the newest event of that time.
  const isSame =
    (request.at === undefined || cut === made.head) &&
    (request.message === undefined || request.message === said) &&
    (request.title === undefined || request.title === made.title);
  if (!isSame) {
    throw new OutlastError('key.conflict', 'The key was used before for another fork of this session.', {
      next: 'use a new key for a new fork',
    });
  }
  return receipt(session, fold(events.slice(0, made.seq)), request.at ?? made.head);
}

/** O3. Before the commit that makes the fork. */
export async function copyFiles(
  session: SessionId,
  { workspace: { tree, atTurn } }: State,
  { session: from, state }: Origin,
  ports: Pick<Ports, 'store' | 'sealer'>,
): Promise<void> {
  const place = placeOf(state, from);
  for (const one of tree?.root === atTurn?.root ? [tree] : [tree, atTurn])
    if (one) await adopt(session, one, place, ports);
}

/** O2. */
async function copied(
  { heap, transcript }: State,
  from: SessionId,
  store: Pick<Ports['store'], 'blob'>,
): Promise<readonly Blob[]> {
  const images = heap.chain ? [heap.chain.base, ...heap.chain.deltas] : [];
  const files = transcript
    .filter(hasFiles)
    .flatMap((item) =>
      item.kind === 'message'
        ? item.message.images
        : item.parts.flatMap((p) => (p.type === 'file' ? [p] : [])),
    );
  const refs = [...new Set([...images, ...files].map(({ blob }) => blob))];
  const found = await Promise.all(
    refs.map(async (ref) => ({ ref, bytes: await readBlob(store, from, ref) })),
  );
  return found.flatMap(({ ref, bytes }) => (bytes ? [{ ref, bytes }] : []));
}
