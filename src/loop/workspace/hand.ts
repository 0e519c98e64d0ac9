/** The files of one session in the hand of one call: the port bound to it, and the commits that it may look into. */

import { fold } from '../../core/evolve.ts';
import type { SessionId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import {
  changesBetween,
  EMPTY_TREE,
  type FileEntry,
  type Tree,
  type TreeRef,
} from '../../core/workspace/tree.ts';
import type { Which, Workspace } from '../../workspace/port.ts';
import type { Ports } from '../ports.ts';
import { isBlobLoss, readEvents } from '../read.ts';
import { differences } from './differences.ts';
import { placeOf } from './tree-blobs.ts';
import type { Workspaces } from './workspaces.ts';

export function hand(
  session: SessionId,
  s: State,
  epoch: number,
  { workspaces: port, store }: Pick<Ports, 'workspaces' | 'store'>,
  workspaces: Workspaces,
): Workspace {
  const place = placeOf(s, session);
  const at = async (ref: TreeRef | null): Promise<Tree> =>
    ref === null ? EMPTY_TREE : workspaces.tree(place, ref);

  async function tree(which: Which): Promise<Tree> {
    if (which === 'last') return at(s.workspace.tree);
    if (which === 'turn') return at(s.workspace.atTurn);
    return at(fold(await readEvents(store, session, Math.min(which, s.head))).workspace.tree);
  }

  return {
    folder: () => port.folder(session),
    find: (path) => port.find(session, path),
    read: (path, from, length) => port.read(session, path, from, length),
    write: (path, bytes) => port.write(session, epoch, path, bytes),
    list: (path) => port.list(session, path),
    remember: (name, value) => port.remember(session, epoch, name, value),
    recall: (name) => port.recall(session, name),
    tree,
    async diff(since, only) {
      const seen = await port.snapshot(session, await tree('last'), async () => NOWHERE);
      const open = workspaces.opener(place);
      return differences({
        before: await tree(since),
        after: seen?.tree ?? EMPTY_TREE,
        old: (entry) => contentOf(entry, open),
        now: ({ path, size }) => port.read(session, path, 0, size),
        only,
      });
    },
    async untold() {
      const { drift, tree: standing } = s.workspace;
      return drift === null ? [] : changesBetween(await at(drift.before), await at(standing));
    },
  };
}

/** A file of a commit, or null when a piece of it is lost. */
export async function contentOf(
  { chunks, size }: FileEntry,
  open: ReturnType<Workspaces['opener']>,
): Promise<Uint8Array | null> {
  const bytes = new Uint8Array(size);
  let at = 0;
  try {
    for (const { blob } of chunks) {
      const piece = await open(blob);
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  } catch (error) {
    if (isBlobLoss(error)) return null;
    throw error;
  }
}

/** Pieces of a look that is not kept stand in no blob. */
const NOWHERE = '' as Parameters<ReturnType<Workspaces['opener']>>[0];
