/**
 * Paths of a real folder, through which no link leads out.
 *
 * A1  Every folder on the way is opened by itself, from the one above it and without following a link. Where the system
 *     names open folders (`/proc/self/fd`), whoever exchanges one for a link meanwhile changes nothing; elsewhere a path
 *     is looked at and then used.
 * A2  A link is followed by reading it, and only as far as it stays inside.
 */

import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { outside } from '../core/workspace/path.ts';
import { failed, isMissing, none } from './pieces.ts';

const NAMES_FOLDERS = existsSync('/proc/self/fd');
const MOST_LINKS = 40;

/** Opens the folder, and gives the path under which it can be used while `work` runs. */
export async function withFolder<T>(path: string, work: (at: string) => Promise<T>): Promise<T> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
    throw isMissing(error) || isNoFolder(error) ? none(path) : error;
  });
  try {
    return await work(NAMES_FOLDERS ? `/proc/self/fd/${handle.fd}` : path);
  } finally {
    await handle.close();
  }
}

/** A1: the folder `inside` of `root`, a path without links (`realPath`). With `make`, what is missing is made. */
export function within<T>(
  root: string,
  inside: string,
  work: (at: string) => Promise<T>,
  make = false,
): Promise<T> {
  const names = inside.split('/').filter((name) => name !== '');
  const enter = (at: string, depth: number): Promise<T> => {
    const name = names[depth];
    if (name === undefined) return work(at);
    const next = join(at, name);
    const made = make ? mkdir(next).catch(ignoreExisting) : Promise.resolve();
    return made.then(() => withFolder(next, (below) => enter(below, depth + 1)));
  };
  return withFolder(root, (at) => enter(at, 0));
}

/** A2: the same path with its links followed. What is not there is taken as it is written. Throws `path.outside`. */
export async function realPath(root: string, path: string): Promise<string> {
  let left = path.split('/').filter((name) => name !== '');
  let real: string[] = [];
  let links = 0;
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === '.') continue;
    if (name === '..') {
      if (real.length === 0) throw outside(`"${path}" leads out of the workspace.`);
      real = real.slice(0, -1);
      continue;
    }
    const target = await linkAt(join(root, ...real, name));
    if (target === null) {
      real = [...real, name];
      continue;
    }
    const isRooted = target.startsWith('/');
    if (++links > MOST_LINKS || (isRooted && !`${target}/`.startsWith(`${root}/`)))
      throw outside(`"${path}" leads out of the workspace, through a link.`);
    if (isRooted) real = [];
    const inside = isRooted ? target.slice(root.length) : target;
    left = [...inside.split('/').filter((part) => part !== ''), ...left];
  }
  return real.join('/');
}

async function linkAt(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (error) {
    if (isMissing(error) || isNoFolder(error)) return null;
    throw failed(path, error);
  }
}

export const isNoFolder = (error: unknown): boolean =>
  codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP';

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;
