/**
 * The workspace as the log knows it: the tree that stands, who has looked at the folder, and what others have changed.
 *
 * Y1  A tree stands from the commit that names it; the folder may only be changed by a holder that has opened it, under
 *     the epoch in which it did.
 * Y2  What others have changed is a commit of its own, and untold until a model has answered a request that told it.
 */

import type { EventOf } from '../event.ts';
import { objectsLost } from '../loss.ts';
import type { Effect, State } from '../state.ts';
import type { FilesChanged } from './event.ts';
import type { Files, Touched } from './state.ts';

/** How many of the last commits are shown. */
const SHOWN_COMMITS = 10;

export function opened(s: State, e: EventOf<'workspace.opened'>): State {
  const { rung, note, lost } = e;
  const isAsLeft = rung === 'attached';
  const before = s.workspace;
  const workspace: Files = {
    ...before,
    opened: e.epoch,
    parked: false,
    restored: isAsLeft ? before.restored : { rung, at: e.at, note, lost },
    generation: before.generation + (rung === 'lost' ? 1 : 0),
  };
  if (e.tree === null) return { ...s, workspace };
  const standing = stands({ ...s, workspace }, { ...e, tree: e.tree, why: rung, effect: null });
  // Not all of it came back: the model has to read what became of everything.
  if (rung === 'lost') return objectsLost(standing, e);
  return e.changed === null ? standing : drifted(standing, before, e.changed, e.at);
}

export function committed(s: State, e: EventOf<'workspace.committed'>): State {
  const before = s.workspace;
  const isDone = e.why === 'imported' || e.why === 'restored';
  const standing = stands(
    {
      ...s,
      workspace: {
        ...before,
        wanted: isDone ? null : before.wanted,
        left: e.left ?? before.left,
      },
    },
    e,
  );
  return e.why === 'call' ? standing : drifted(standing, before, e.changed, e.at);
}

export const set = (s: State, { seq, why, tree, from }: EventOf<'workspace.set'>): State => ({
  ...s,
  workspace: { ...s.workspace, wanted: { seq, why, tree, from } },
});

export const parked = (s: State): State => ({
  ...s,
  workspace: { ...s.workspace, opened: null, parked: true },
});

/** Y2: the model has answered a request that told it. */
export const driftTold = (s: State): State =>
  s.workspace.drift === null ? s : { ...s, workspace: { ...s.workspace, drift: null } };

/** Sent, and nobody knows what it has done to the files by now. */
export const isInFiles = ({ files, status }: Effect): boolean =>
  files === 'changes' && (status === 'dispatched' || status === 'unknown');

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

type Commit = Pick<EventOf<'workspace.committed'>, 'seq' | 'at' | 'effect'> & {
  readonly tree: NonNullable<Files['tree']>;
  readonly why: string;
  readonly changed: FilesChanged | null;
};

function stands(s: State, { seq, at, why, effect, tree, changed }: Commit): State {
  const commit = { seq, at, why, effect, changed: changed ?? NOTHING };
  const { commits: before, tree: stood, atTurn: began } = s.workspace;
  const commits = [...before, commit].slice(-SHOWN_COMMITS);
  // What came from others before the first change of the turn stood at its beginning, as far as the turn is concerned.
  const atTurn = why !== 'call' && began?.digest === stood?.digest ? tree : began;
  const touched = changed === null ? s.workspace.touched : touchedBy(s.workspace.touched, changed, seq);
  return { ...s, workspace: { ...s.workspace, tree, seq, commits, atTurn, touched } };
}

const MOST_TOUCHED = 20;

/** What was touched before, and after it. */
export function touchedAfter(before: Touched, after: Touched): Touched {
  const again = new Set(after.files.map(({ path }) => path));
  const files = [...before.files.filter(({ path }) => !again.has(path)), ...after.files];
  const beyond = Math.max(0, files.length - MOST_TOUCHED);
  return { files: files.slice(beyond), more: before.more + after.more + beyond };
}

function touchedBy(before: Touched, { added, changed, removed, paths }: FilesChanged, seq: number): Touched {
  const files = paths.map((one) => ({ ...one, seq }));
  return touchedAfter(before, { files, more: added + changed + removed - paths.length });
}

const NOTHING: FilesChanged = { added: 0, changed: 0, removed: 0, paths: [] };

function drifted(s: State, before: Files, changed: FilesChanged, at: number): State {
  const under = s.effects.open.filter(isInFiles).map(({ id }) => id);
  const old = before.drift;
  const drift = old
    ? { ...old, at, changed: joined(old.changed, changed), effects: [...new Set([...old.effects, ...under])] }
    : { at, before: before.tree, changed, effects: under };
  return { ...s, workspace: { ...s.workspace, drift } };
}

const joined = (a: FilesChanged, b: FilesChanged): FilesChanged => ({
  added: a.added + b.added,
  changed: a.changed + b.changed,
  removed: a.removed + b.removed,
  paths: [...a.paths.filter(({ path }) => b.paths.every((other) => other.path !== path)), ...b.paths],
});
