/**
 * The port to files over environments elsewhere. The log's snapshots stay with the brain: only what is other than in the
 * tree that it knows crosses the wire, each piece once and held against its digest.
 *
 * Folders that people name, and git remotes, are the brain's: they are taken and given by `here`.
 */

import { OutlastError } from '../core/error.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import { filePath } from '../core/workspace/path.ts';
import { digestOfTree, EMPTY_TREE, type Tree } from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import type { Json } from '../lib/json.ts';
import { packing, unpacked } from '../lib/pack.ts';
import { none, piecesOf, whyLost } from '../workspace/pieces.ts';
import type { Found, Keep, Listed, Open, Restored, Snapshot, Workspaces } from '../workspace/port.ts';
import { NO_BYTES } from './frame.ts';
import type { Places } from './places.ts';
import { type At, type FileCall, type Looked, PENDING } from './port.ts';
import { applied, bare, packedDigests, withBlobs } from './trees.ts';

const SIDE_BY_SIDE = 4;

export function remoteWorkspaces(
  places: Places,
  here: Pick<Workspaces, 'take' | 'give' | 'close'>,
): Workspaces {
  /** What was set aside for a look is gone with the next one. */
  const turns = new Map<string, Promise<unknown>>();

  async function inTurn<T>(session: string, work: () => Promise<T>): Promise<T> {
    const before = turns.get(session)?.catch(() => {}) ?? Promise.resolve();
    const mine = before.then(work);
    turns.set(session, mine);
    try {
      return await mine;
    } finally {
      if (turns.get(session) === mine) turns.delete(session);
    }
  }

  /** Undefined where there is no environment. */
  async function call(session: string, asked: FileCall, bytes = NO_BYTES, epoch?: number) {
    const files = (at: At) => places.environments.files(at, asked, bytes);
    for (;;) {
      const told = await places.ask(session, files, epoch === undefined ? {} : { epoch });
      if (told?.answer !== PENDING) return told;
    }
  }

  async function answerOf<Answer>(
    session: string,
    asked: FileCall,
    bytes = NO_BYTES,
  ): Promise<Answer | null> {
    return ((await call(session, asked, bytes))?.answer ?? null) as Answer | null;
  }

  /** In an environment that is there from here on. */
  async function change(session: string, epoch: number, asked: FileCall, bytes = NO_BYTES): Promise<unknown> {
    await places.entered(session, epoch);
    return (await call(session, asked, bytes, epoch))?.answer;
  }

  async function look(session: string, known: Tree): Promise<{ base: Tree; looked: Looked }> {
    const looked = await answerOf<Looked>(session, { op: 'look', known: digestOfTree(known) });
    if (looked?.status !== 'ask anew') return { base: known, looked: looked ?? { status: 'none' } };
    const digests = packedDigests(piecesOf(known).keys());
    const anew = await answerOf<Looked>(session, { op: 'lookAnew' }, digests);
    return { base: EMPTY_TREE, looked: anew ?? { status: 'none' } };
  }

  /** The pieces of a tree, each in a blob: those that are known, and those that are taken over now. */
  async function keptPieces(session: string, tree: Tree, known: Tree, keep: Keep) {
    const pieces = piecesOf(known);
    const fresh = [...piecesOf(tree).keys()].filter((digest) => !pieces.has(digest));
    await sideBySide(fresh, async (digest) => {
      const taken = await call(session, { op: 'take', digest });
      if (taken === undefined || sha256(unpacked(taken.bytes)) !== digest) {
        throw new OutlastError('files.failed', 'The hands gave another piece of a file than they had named.');
      }
      pieces.set(digest, await keep(taken.bytes));
    });
    return (digest: string): BlobRef => pieces.get(digest) as BlobRef;
  }

  async function snapshot(session: SessionId, known: Tree, keep: Keep): Promise<Snapshot | null> {
    const { base, looked } = await look(session, known);
    if (looked.status !== 'seen') return null;
    for (const { path } of looked.set) checkPath(path);
    const blobOf = await keptPieces(session, looked.set, known, keep);
    const set = looked.set.map((entry) => withBlobs(entry, blobOf));
    return { tree: applied(base, { set, gone: looked.gone }), left: looked.left };
  }

  async function restore(session: SessionId, epoch: number, tree: Tree, open: Open): Promise<Restored> {
    const listed = bare(tree);
    const wanted = (await change(session, epoch, { op: 'want', tree: listed })) as readonly string[];
    const blobs = piecesOf(tree);
    const lost: Record<string, string> = {};
    await sideBySide(wanted, async (digest) => {
      try {
        const piece = await open(blobs.get(digest) as BlobRef);
        if (sha256(piece) === digest)
          await change(session, epoch, { op: 'put', digest }, await packing(piece));
        else lost[digest] = 'its bytes are not those that were kept';
      } catch (error) {
        lost[digest] = whyLost(error);
      }
    });
    return (await change(session, epoch, { op: 'restore', tree: listed, lost })) as Restored;
  }

  return {
    // It is on another machine: nothing here can be started in it.
    folder: async () => null,
    async enter(session, epoch) {
      await places.enter(session, epoch);
      await change(session, epoch, { op: 'enter' });
    },
    snapshot: (session, known, keep) => inTurn(session, () => snapshot(session, known, keep)),
    restore: (session, epoch, tree, open) => inTurn(session, () => restore(session, epoch, tree, open)),
    find: async (session, path) =>
      (await answerOf<Found>(session, { op: 'find', path })) ?? { kind: 'none', path: filePath(path) },
    async read(session, path, from, length) {
      const read = await call(session, { op: 'read', path, from, length });
      if (read === undefined) throw none(path);
      return read.bytes;
    },
    async write(session, epoch, path, bytes) {
      await change(session, epoch, { op: 'write', path }, bytes);
    },
    async list(session, path) {
      const listed = await answerOf<readonly Listed[]>(session, { op: 'list', path });
      if (listed === null && filePath(path) !== '') throw none(path);
      return listed ?? [];
    },
    async remember(session, epoch, name, value) {
      await change(session, epoch, { op: 'remember', name, value });
    },
    recall: (session, name) => answerOf<Json>(session, { op: 'recall', name }),
    erase: (session, epoch) => places.destroy(session, epoch),
    take: (source, keep) => here.take(source, keep),
    give: (target, tree, open) => here.give(target, tree, open),
    async close() {
      await places.close();
      await here.close();
    },
  };
}

/** What comes from there names places, also on this machine, once its files are given out. */
function checkPath(path: string): void {
  const names = path.split('/');
  if (!path.includes('\0') && !names.some((name) => name === '' || name === '.' || name === '..')) return;
  throw new OutlastError('path.outside', 'The hands named a path that leads out of the workspace.');
}

async function sideBySide<Item>(items: readonly Item[], each: (item: Item) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const one = async (): Promise<void> => {
    for (const item of left) await each(item);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one));
}
