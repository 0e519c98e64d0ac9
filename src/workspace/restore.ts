/**
 * A real folder made as a tree says.
 *
 * B1  Where there was no folder it is built beside its place and moved there: whole or not at all.
 * B2  In a folder that is there only what differs is touched, each file exchanged whole. What is ignored stays.
 * B3  Links are made last and folders get their modes at the very end, so that nothing on the way leads elsewhere or is
 *     shut too early.
 */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { folderOf } from '../core/workspace/path.ts';
import { changesBetween, type Entry, entryAt, type FileEntry, type Tree } from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import { within } from './path.ts';
import { isMissing, whyLost } from './pieces.ts';
import type { Open, Restored } from './port.ts';

interface Places {
  /** The folder. */
  readonly root: string;
  /** On the same file system, and no part of it. */
  readonly aside: string;
  /** Nobody else knows the folder yet: nothing can be put in the way, and nothing has to be whole before the whole is. */
  readonly isOwn?: true;
}

const SIDE_BY_SIDE = 8;
const OWNER_MAY = 0o700;

/** B1. */
export async function build({ root, aside }: Places, tree: Tree, bytes: Open): Promise<Restored> {
  const made = join(aside, `tree-${randomBytes(6).toString('hex')}`);
  await mkdir(made, { recursive: true });
  const restored = await fill({ root: made, aside, isOwn: true }, tree, bytes);
  await rename(made, root);
  return restored;
}

/** B2. `now` is what stands there. */
export async function change(
  places: Places,
  now: Tree,
  tree: Tree,
  bytes: Open,
  mayChange: () => Promise<void>,
): Promise<Restored> {
  const changes = changesBetween(now, tree);
  const gone = changes.filter(({ path, change: what }) => {
    const old = entryAt(now, path);
    return what === 'removed' || (what === 'changed' && old?.kind !== entryAt(tree, path)?.kind);
  });
  await mayChange();
  for (const { path } of gone.toReversed()) await remove(places, path, entryAt(now, path) as Entry);
  const news = new Set(changes.filter(({ change: what }) => what !== 'removed').map(({ path }) => path));
  await mayChange();
  return fill(
    places,
    tree.filter(({ path }) => news.has(path)),
    bytes,
    tree,
  );
}

async function fill(places: Places, tree: Tree, bytes: Open, all: Tree = tree): Promise<Restored> {
  const lost: { path: string; why: string }[] = [];
  for (const entry of tree) if (entry.kind === 'folder') await folder(places, entry.path);
  const work = tree.filter((entry) => entry.kind === 'file')[Symbol.iterator]();
  const one = async (): Promise<void> => {
    for (const entry of work) {
      const why = await file(places, entry, bytes);
      if (why !== null) lost.push({ path: entry.path, why });
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one));
  for (const entry of tree) if (entry.kind === 'link') await link(places, entry.path, entry.target);
  // Those above what was changed were opened for it.
  for (const entry of all.toReversed()) {
    if (entry.kind === 'folder') await within(places.root, entry.path, (at) => chmod(at, entry.mode));
  }
  return { lost: lost.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

const inFolder = <T>(
  { root, isOwn }: Places,
  path: string,
  work: (real: string) => Promise<T>,
): Promise<T> =>
  isOwn
    ? work(join(root, path))
    : within(root, folderOf(path), async (at) => {
        if (folderOf(path) !== '') await chmod(at, OWNER_MAY);
        return work(join(at, path.slice(path.lastIndexOf('/') + 1)));
      });

const folder = (places: Places, path: string): Promise<void> =>
  inFolder(places, path, (real) =>
    mkdir(real, { mode: OWNER_MAY }).catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'EEXIST') throw error;
    }),
  );

/** Null, or why its bytes are lost. */
async function file(places: Places, entry: FileEntry, bytes: Open): Promise<string | null> {
  const made = join(places.aside, `file-${randomBytes(8).toString('hex')}`);
  try {
    const handle = await open(made, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      for (const { digest, blob } of entry.chunks) {
        const piece = await bytes(blob);
        if (sha256(piece) !== digest) return 'its bytes are not those that were kept';
        await handle.write(piece);
      }
      await handle.chmod(entry.mode);
    } catch (error) {
      return whyLost(error);
    } finally {
      await handle.close();
    }
    await inFolder(places, entry.path, (real) => rename(made, real));
    return null;
  } finally {
    await rm(made, { force: true });
  }
}

const link = (places: Places, path: string, target: string): Promise<void> =>
  inFolder(places, path, async (real) => {
    await unlink(real).catch(ignoreMissing);
    await symlink(target, real);
  });

const remove = (places: Places, path: string, { kind }: Entry): Promise<void> =>
  inFolder(places, path, (real) =>
    // What is ignored stays, and the folder around it.
    kind === 'folder' ? rmdir(real).catch(ignoreFull) : unlink(real).catch(ignoreMissing),
  );

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

function ignoreFull(error: unknown): void {
  const { code } = error as { code?: string };
  if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && !isMissing(error)) throw error;
}
