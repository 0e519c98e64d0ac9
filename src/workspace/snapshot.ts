/**
 * A look at a real folder: every entry as it stands, pieces kept where they are new.
 *
 * L1  What is kept is what the digests are of: a file is read once, a piece at a time, and hashed on the way.
 * L2  No link is followed, not even one that somebody puts in the way meanwhile (`path.ts`).
 */

import { createHash } from 'node:crypto';
import { type BigIntStats, constants, type Dirent, lstatSync } from 'node:fs';
import { type FileHandle, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobRef } from '../core/ids.ts';
import { CHUNK_BYTES, type Chunk, type Entry, inOrder, type Tree } from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import { packing } from '../lib/pack.ts';
import type { Digests, StatCache } from './cache.ts';
import { IGNORE_FILE, ignored } from './ignore.ts';
import { withFolder } from './path.ts';
import { isMissing, isNone, piecesOf } from './pieces.ts';
import type { Keep, Snapshot } from './port.ts';

interface Look {
  readonly known: ReadonlyMap<string, BlobRef>;
  readonly kept: Map<string, BlobRef>;
  readonly keep: Keep;
  readonly cache: StatCache | null;
  readonly rules: Map<string, string>;
  readonly isIgnored: (path: string, isFolder: boolean) => boolean;
  readonly entries: Entry[];
  readonly left: { path: string; why: string }[];
}

/** Files of a folder that are read side by side. */
const SIDE_BY_SIDE = 8;
const MODE = 0o7777n;

export async function look(
  root: string,
  known: Tree,
  keep: Keep,
  cache: StatCache | null,
): Promise<Snapshot> {
  await cache?.load();
  const rules = new Map<string, string>();
  const seen: Look = {
    ...{ known: piecesOf(known), kept: new Map(), keep, cache, rules, entries: [], left: [] },
    isIgnored: ignored((path) => rules.get(path) ?? null),
  };
  await withFolder(root, (at) => folder(at, '', seen));
  const tree = inOrder(seen.entries);
  cache?.keepOnly(new Set(tree.map(({ path }) => path)));
  await cache?.save();
  return { tree, left: seen.left.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

async function folder(at: string, path: string, seen: Look): Promise<void> {
  const names = await readdir(at, { withFileTypes: true, encoding: 'buffer' });
  const listed = names.map((entry) => ({ entry, name: textOf(entry.name) }));
  if (listed.some(({ name }) => name === IGNORE_FILE)) {
    const lines = await readRules(join(at, IGNORE_FILE));
    seen.rules.set(path === '' ? IGNORE_FILE : `${path}/${IGNORE_FILE}`, lines);
  }
  const folders: string[] = [];
  const others: { entry: Dirent<Buffer>; name: string }[] = [];
  for (const { entry, name } of listed) {
    if (name === null) {
      const shown = Buffer.from(entry.name).toString('latin1');
      seen.left.push({ path: path === '' ? shown : `${path}/${shown}`, why: 'its name is no text' });
    } else if (seen.isIgnored(path === '' ? name : `${path}/${name}`, entry.isDirectory())) continue;
    else if (entry.isDirectory()) folders.push(name);
    else others.push({ entry, name });
  }
  const work = others[Symbol.iterator]();
  const one = async (): Promise<void> => {
    for (const { entry, name } of work) await other(at, path, name, entry, seen);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one));
  for (const name of folders) await below(at, path, name, seen);
}

async function below(at: string, path: string, name: string, seen: Look): Promise<void> {
  const inside = path === '' ? name : `${path}/${name}`;
  try {
    const { mode } = lstatSync(join(at, name), { bigint: true });
    await withFolder(join(at, name), async (next) => {
      seen.entries.push({ kind: 'folder', path: inside, mode: Number(mode & MODE) });
      await folder(next, inside, seen);
    });
  } catch (error) {
    leave(inside, error, seen);
  }
}

async function other(
  at: string,
  path: string,
  name: string,
  entry: Dirent<Buffer>,
  seen: Look,
): Promise<void> {
  const inside = path === '' ? name : `${path}/${name}`;
  const real = join(at, name);
  try {
    if (entry.isSymbolicLink())
      seen.entries.push({ kind: 'link', path: inside, target: await readlink(real) });
    else if (entry.isFile()) seen.entries.push(await file(real, inside, seen));
    else seen.left.push({ path: inside, why: kindOf(entry) });
  } catch (error) {
    leave(inside, error, seen);
  }
}

/** Gone since it was listed: then it is not there. What may not be read, or became another thing meanwhile, is named. */
function leave(path: string, error: unknown, { left }: Look): void {
  if (isMissing(error) || isNone(error)) return;
  const { code } = error as { code?: string };
  const why = code === undefined ? undefined : LEFT[code];
  if (why === undefined) throw error;
  left.push({ path, why });
}

const SHUT = 'it may not be read';
const OTHER = 'it became another thing while it was looked at';
const LEFT: Readonly<Record<string, string>> = {
  EACCES: SHUT,
  EPERM: SHUT,
  ELOOP: OTHER,
  EINVAL: OTHER,
  ENOTDIR: OTHER,
  ENXIO: OTHER,
};

async function file(real: string, path: string, seen: Look): Promise<Entry> {
  // At once: a few microseconds, where a turn of the loop for each of thousands takes a tenth of a second.
  const stats = lstatSync(real, { bigint: true });
  const known = seen.cache?.get(path, stats) ?? null;
  const chunks = known && chunksOf(known, seen);
  if (chunks) return entryOf(path, stats, known.digest, Number(stats.size), chunks);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const before = await handle.stat({ bigint: true });
    const readAt = Date.now();
    const { digest, size, chunks: read } = await readPieces(handle, seen);
    const after = await handle.stat({ bigint: true });
    const isCalm = before.mtimeNs === after.mtimeNs && before.ctimeNs === after.ctimeNs;
    const pieces = read.map((chunk) => chunk.digest);
    if (isCalm && Number(after.size) === size) seen.cache?.set(path, after, readAt, { digest, pieces });
    return entryOf(path, after, digest, size, read);
  } finally {
    await handle.close();
  }
}

const entryOf = (
  path: string,
  { mode }: BigIntStats,
  digest: string,
  size: number,
  chunks: readonly Chunk[],
): Entry => ({ kind: 'file', path, mode: Number(mode & MODE), size, digest, chunks });

/** The pieces of a file that is as it was, when all of them are kept already. */
function chunksOf({ pieces }: Digests, { known, kept }: Look): readonly Chunk[] | null {
  const chunks: Chunk[] = [];
  for (const digest of pieces) {
    const blob = known.get(digest) ?? kept.get(digest);
    if (blob === undefined) return null;
    chunks.push({ digest, blob });
  }
  return chunks;
}

/** L1. */
async function readPieces(
  handle: FileHandle,
  seen: Look,
): Promise<{ digest: string; size: number; chunks: readonly Chunk[] }> {
  const whole = createHash('sha256');
  const chunks: Chunk[] = [];
  let size = 0;
  for (;;) {
    const piece = await readPiece(handle, size);
    if (piece.length === 0) break;
    whole.update(piece);
    size += piece.length;
    chunks.push(await keepPiece(piece, seen));
    if (piece.length < CHUNK_BYTES) break;
  }
  return { digest: whole.digest('hex'), size, chunks };
}

async function readPiece(handle: FileHandle, from: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  while (filled < CHUNK_BYTES) {
    const { bytesRead } = await handle.read(buffer, filled, CHUNK_BYTES - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function keepPiece(piece: Uint8Array, { known, kept, keep }: Look): Promise<Chunk> {
  const digest = sha256(piece);
  const there = known.get(digest) ?? kept.get(digest);
  if (there !== undefined) return { digest, blob: there };
  const blob = await keep(await packing(piece));
  kept.set(digest, blob);
  return { digest, blob };
}

/** The whole digest of a file, through the cache. */
export async function digestOfFile(handle: FileHandle): Promise<{ digest: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  for (let piece = await readPiece(handle, 0); piece.length > 0; piece = await readPiece(handle, size)) {
    hash.update(piece);
    size += piece.length;
  }
  return { digest: hash.digest('hex'), size };
}

async function readRules(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return (await handle.stat()).isFile() ? await handle.readFile('utf8') : '';
  } finally {
    await handle.close();
  }
}

const TEXT = new TextDecoder('utf-8', { fatal: true });

function textOf(name: Uint8Array): string | null {
  try {
    return TEXT.decode(name);
  } catch {
    return null;
  }
}

function kindOf(entry: Dirent<Buffer>): string {
  if (entry.isSocket()) return 'a socket cannot be kept';
  if (entry.isFIFO()) return 'a pipe cannot be kept';
  return 'a device cannot be kept';
}
