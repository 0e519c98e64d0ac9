/**
 * Folders on a disk: `<dir>/<session>/files`, and beside it what is known of them.
 *
 * D1  Beside means never inside: the stat cache, what tools remember, half-written files and the fence stand in the
 *     folder above. So a session's files are its own, to the last name.
 */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, mkdtemp, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OutlastError } from '../core/error.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import { filePath, folderOf } from '../core/workspace/path.ts';
import { EMPTY_TREE, type Tree } from '../core/workspace/tree.ts';
import { type Json, parseJson } from '../lib/json.ts';
import { StatCache } from './cache.ts';
import { cloned, isRemote, pushed } from './git.ts';
import { isNoFolder, realPath, within } from './path.ts';
import { failed, isFolder, isMissing, none } from './pieces.ts';
import type { Found, Listed, Workspaces } from './port.ts';
import { build, change } from './restore.ts';
import { digestOfFile, look } from './snapshot.ts';

const MODE = 0o7777;
const NEW_FILE = 0o644;

/** `isPassing`: the folders go when it is closed. */
export function directoryWorkspaces(dir: string, { isPassing = false } = {}): Workspaces {
  const homes = new Map<SessionId, Home>();

  const homeOf = (session: SessionId): Home => {
    const home = homes.get(session) ?? new Home(join(dir, session));
    homes.set(session, home);
    return home;
  };

  return {
    async folder(session) {
      const home = homeOf(session);
      await mkdir(home.files, { recursive: true });
      return realpath(home.files);
    },

    async enter(session, epoch) {
      const home = homeOf(session);
      await mkdir(home.path, { recursive: true, mode: 0o700 });
      if (epoch < (await home.epoch())) throw fenced();
      await rm(home.aside, { recursive: true, force: true });
      await home.write('fence', epoch);
    },

    async snapshot(session, known, keep) {
      const home = homeOf(session);
      if (!(await home.isThere())) return null;
      return look(await realpath(home.files), known, keep, home.cache);
    },

    async restore(session, epoch, tree, bytes) {
      const home = homeOf(session);
      const mayChange = () => home.check(epoch);
      await mayChange();
      await mkdir(home.aside, { recursive: true });
      if (!(await home.isThere())) return build({ root: home.files, aside: home.aside }, tree, bytes);
      const root = await realpath(home.files);
      const now = await look(root, EMPTY_TREE, NOWHERE, null);
      return change({ root, aside: home.aside }, now.tree, tree, bytes, mayChange);
    },

    async find(session, path) {
      const home = homeOf(session);
      return (await home.isThere())
        ? found(await realpath(home.files), filePath(path))
        : missing(filePath(path));
    },

    async read(session, path, from, length) {
      const root = await homeOf(session).root(path);
      const real = await realPath(root, filePath(path));
      return opened(root, real, async (handle) => {
        const buffer = new Uint8Array(length);
        const { bytesRead } = await handle.read(buffer, 0, length, from);
        return buffer.subarray(0, bytesRead);
      });
    },

    async write(session, epoch, path, bytes) {
      const home = homeOf(session);
      await mkdir(home.files, { recursive: true });
      await mkdir(home.aside, { recursive: true });
      const root = await realpath(home.files);
      const real = await realPath(root, filePath(path));
      if (real === '') throw isFolder(path);
      const made = join(home.aside, `file-${randomBytes(8).toString('hex')}`);
      await place(root, real, made, bytes, () => home.check(epoch)).finally(() => rm(made, { force: true }));
    },

    async list(session, path) {
      const home = homeOf(session);
      const asked = filePath(path);
      if (!(await home.isThere())) {
        if (asked === '') return [];
        throw none(path);
      }
      const root = await realpath(home.files);
      return listed(root, await realPath(root, asked));
    },

    async remember(session, epoch, name, value) {
      const home = homeOf(session);
      await home.check(epoch);
      await home.write(nameOf(name), value);
    },
    recall: (session, name) => homeOf(session).read(nameOf(name)),

    async erase(session, epoch) {
      await homeOf(session).erase(epoch);
      homes.delete(session);
    },

    async take(source, keep) {
      if (isRemote(source)) {
        return aside(dir, async (at) =>
          look(await cloned(source, join(at, 'clone')), EMPTY_TREE, keep, null),
        );
      }
      const root = await realpath(resolve(source)).catch(() => {
        throw none(source);
      });
      if (!(await stat(root)).isDirectory()) throw none(source);
      return look(root, EMPTY_TREE, keep, null);
    },

    async give(target, tree, bytes) {
      if (isRemote(target)) {
        return aside(dir, async (at) => {
          const fill = (root: string, files: Tree) => given(root, files, bytes);
          return pushed(target, at, tree, fill);
        });
      }
      const root = resolve(target);
      return { ...(await given(root, tree, bytes)), at: root };
    },

    async close() {
      if (isPassing) await rm(dir, { recursive: true, force: true });
    },
  };
}

class Home {
  readonly path: string;
  readonly files: string;
  readonly aside: string;
  readonly cache: StatCache;

  constructor(path: string) {
    this.path = path;
    this.files = join(path, 'files');
    this.aside = join(path, 'aside');
    this.cache = new StatCache(join(path, 'cache.json'));
  }

  async isThere(): Promise<boolean> {
    return (await stat(this.files).catch(() => null))?.isDirectory() ?? false;
  }

  async root(path: string): Promise<string> {
    return realpath(this.files).catch(() => {
      throw none(path);
    });
  }

  async epoch(): Promise<number> {
    const epoch = await this.read('fence');
    return typeof epoch === 'number' ? epoch : 0;
  }

  /** V6. */
  async check(epoch: number): Promise<void> {
    if (epoch < (await this.epoch())) throw fenced();
  }

  /** V7: the fence first, then whatever else is there. */
  async erase(epoch: number): Promise<void> {
    const names = await readdir(this.path).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw failed(this.path, error);
    });
    if (names === null) return;
    await this.check(epoch);
    await this.write('fence', epoch);
    for (const name of names) {
      if (name !== 'fence.json') await rm(join(this.path, name), { recursive: true, force: true });
    }
  }

  async read(name: string): Promise<Json> {
    const text = await readFile(join(this.path, `${name}.json`), 'utf8').catch(() => 'null');
    return parseJson(text) ?? null;
  }

  async write(name: string, value: Json): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    const made = join(this.path, `${name}.json.${randomBytes(4).toString('hex')}`);
    const handle = await open(made, 'w', 0o600);
    try {
      await handle.writeFile(JSON.stringify(value));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(made, join(this.path, `${name}.json`));
  }
}

const fenced = (): OutlastError =>
  new OutlastError('lease.lost', 'Another holder has the files of this session.');

const NOWHERE = async (): Promise<BlobRef> => '' as BlobRef;

/** What is remembered is named by us, and no path. */
function nameOf(name: string): string {
  if (/^[a-z]{1,20}$/.test(name) && name !== 'fence' && name !== 'cache') return name;
  throw new OutlastError('internal', `"${name}" cannot be remembered.`);
}

const missing = (path: string): Found => ({ kind: 'none', path });

async function found(root: string, path: string): Promise<Found> {
  const real = await realPath(root, path);
  if (real === '') return { kind: 'folder', path: '' };
  const stats = await lstat(join(root, real)).catch((error: unknown) => {
    if (isMissing(error) || isNoFolder(error)) return null;
    throw failed(path, error);
  });
  if (stats === null) return missing(real);
  if (stats.isDirectory()) return { kind: 'folder', path: real };
  if (!stats.isFile()) return { kind: 'other', path: real };
  return opened(root, real, async (handle) => ({
    kind: 'file',
    path: real,
    ...(await digestOfFile(handle)),
  }));
}

type Opened = Parameters<typeof digestOfFile>[0];

/** A regular file, opened from the folder that holds it. */
function opened<T>(root: string, real: string, work: (handle: Opened) => Promise<T>): Promise<T> {
  return within(root, folderOf(real), async (at) => {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const handle = await open(
      join(at, real.slice(real.lastIndexOf('/') + 1)),
      O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
    ).catch((error: unknown) => {
      throw isMissing(error) || isNoFolder(error) ? none(real) : failed(real, error);
    });
    try {
      const stats = await handle.stat();
      if (stats.isDirectory()) throw isFolder(real);
      if (!stats.isFile()) throw none(real);
      return await work(handle);
    } finally {
      await handle.close();
    }
  });
}

/** V4: written beside and flushed, then moved to its place. */
async function place(
  root: string,
  real: string,
  made: string,
  bytes: Uint8Array,
  mayChange: () => Promise<void>,
): Promise<void> {
  const handle = await open(made, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, NEW_FILE);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    await within(
      root,
      folderOf(real),
      async (at) => {
        const target = join(at, real.slice(real.lastIndexOf('/') + 1));
        const old = await lstat(target).catch(() => null);
        if (old?.isDirectory()) throw isFolder(real);
        if (old?.isFile()) await handle.chmod(old.mode & MODE);
        await mayChange();
        await rename(made, target);
      },
      true,
    );
  } catch (error) {
    throw error instanceof OutlastError ? error : failed(real, error);
  } finally {
    await handle.close();
  }
}

function listed(root: string, real: string): Promise<readonly Listed[]> {
  return within(root, real, async (at) => {
    const names = (await readdir(at)).sort();
    const all = names.map(async (name): Promise<Listed | null> => {
      const stats = await lstat(join(at, name)).catch(() => null);
      const path = real === '' ? name : `${real}/${name}`;
      if (stats === null) return null;
      const kind = stats.isSymbolicLink()
        ? 'link'
        : stats.isDirectory()
          ? 'folder'
          : stats.isFile()
            ? 'file'
            : 'other';
      return { path, kind, size: kind === 'file' ? stats.size : 0 };
    });
    return (await Promise.all(all)).flatMap((one) => one ?? []);
  });
}

/** Into a folder that is not there, or has nothing in it: nothing of anybody's is overwritten. */
async function given(root: string, tree: Tree, bytes: Parameters<typeof build>[2]) {
  const names = await readdir(root).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw failed(root, error);
  });
  if (names?.some((name) => name !== '.git'))
    throw failed(root, new Error('the folder is there and not empty'));
  await mkdir(root, { recursive: true });
  const beside = await mkdtemp(`${root}.`);
  try {
    return await change(
      { root: await realpath(root), aside: beside },
      EMPTY_TREE,
      tree,
      bytes,
      async () => {},
    );
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function aside<T>(dir: string, work: (at: string) => Promise<T>): Promise<T> {
  await mkdir(dir, { recursive: true });
  const at = await mkdtemp(join(dir, 'aside-'));
  try {
    return await work(at);
  } finally {
    await rm(at, { recursive: true, force: true });
  }
}
