/**
 * The image of a kernel: its whole process, as CRIU wrote it, in one sealed file beside the journal.
 *
 * I1  Nothing of it stands on a disk unsealed: CRIU writes into memory that only this namespace of mounts has.
 * I2  A process comes back behind the walls that it had, under the bounds of its session now, or not at all.
 */

import { spawn } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Sealer } from '../../../lib/seal.ts';
import { OUTPUTS, type Room, SCRATCH, WORKSPACE } from '../confine/cage.ts';
import type { Held } from '../limits.ts';

export interface ImagePlace {
  /** Folder of the session. */
  readonly dir: string;
  readonly session: string;
  readonly criu: string;
  readonly room: Room;
  readonly held: Held;
  /** Of the memory of the session: an image is no larger. */
  readonly memoryMb: number;
}

const PIECE = 4 * 2 ** 20;
const MORE_MB = 128;
const CRIU_MS = 120_000;

export const imageOf = (dir: string): string => join(dir, 'kernel.image');

/** Takes the process out of memory. Throws with what CRIU says, and then the process goes on. */
export async function freeze(place: ImagePlace, pid: number, sealer: Sealer): Promise<void> {
  await inMemory(place, async (folder) => {
    await criu(place, ['dump', '-t', `${pid}`], folder);
    await pack(folder, imageOf(place.dir), aadOf(place), sealer);
  });
}

/** Gives the pid of a process that goes on where it was frozen. Throws with what CRIU says, or what is wrong with the image. */
export async function thaw(place: ImagePlace, sealer: Sealer): Promise<number> {
  return inMemory(place, async (folder) => {
    await unpack(imageOf(place.dir), folder, aadOf(place), sealer);
    const root = join(folder, 'root');
    await skeleton(root, place.room);
    await criu(place, ['restore', '--root', root, '--restore-detached', '--pidfile', 'pid'], folder, true);
    return Number(readFileSync(join(folder, 'pid'), 'utf8'));
  });
}

export function discard(dir: string): void {
  rmSync(imageOf(dir), { force: true });
}

const aadOf = ({ session }: ImagePlace): string => `kernel of ${session}`;

/** I1. */
async function inMemory<T>({ dir, memoryMb }: ImagePlace, act: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(dir, 'image');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await run(['mount', '-t', 'tmpfs', '-o', `mode=755,size=${memoryMb + MORE_MB}m`, 'outlast', folder]);
  try {
    return await act(folder);
  } finally {
    // A root of what was restored keeps this memory: nothing else may stand in it.
    for (const name of readdirSync(folder)) {
      if (name !== 'root') rmSync(join(folder, name), { recursive: true, force: true });
    }
    await run(['umount', '--lazy', folder]);
  }
}

async function criu(
  { criu: program, held }: ImagePlace,
  args: readonly string[],
  folder: string,
  isBound = false,
): Promise<void> {
  const log = `${args[0]}.log`;
  const more = ['--external', 'mnt[]', '--manage-cgroups=ignore', '--shell-job', '-v2', '-o', log];
  const argv = [program, ...args, '-D', folder, ...more];
  try {
    await run(isBound ? held.wrap(argv) : argv);
  } catch (error) {
    const path = join(folder, log);
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    const said = lines.filter((line) => /\bError\b/.test(line) && !/RLIMIT_NOFILE/.test(line));
    const why = said[0] ?? (error instanceof Error ? error.message : String(error));
    throw new Error(`criu ${args[0]}: ${why.trim().slice(0, 300)}`);
  }
}

/** Places to mount upon, as behind the inner wall, and as unwritable as there. */
async function skeleton(root: string, { shown, files }: Room): Promise<void> {
  const folder = (path: string): void => void mkdirSync(join(root, path), { recursive: true, mode: 0o755 });
  const file = async (path: string): Promise<void> => {
    folder(dirname(path));
    await writeFile(join(root, path), '', { flag: 'a', mode: 0o644 });
  };
  for (const path of ['/', '/proc', '/dev', WORKSPACE, SCRATCH, OUTPUTS]) folder(path);
  for (const one of shown) {
    if (one.kind === 'link') {
      folder(dirname(one.path));
      await run(['ln', '-sfn', one.to, join(root, one.path)]);
    } else if (one.kind === 'folder') folder(one.path);
    else await file(one.path);
  }
  for (const [inside, host] of files) {
    if (statSync(host).isDirectory()) folder(inside);
    else await file(inside);
  }
  await run(['mount', '--bind', root, root]);
  await run(['mount', '--make-private', root]);
  await run(['mount', '-o', 'remount,bind,ro', root]);
}

/** First the names and sizes, then all bytes in pieces: each compressed, sealed, and bound to its place. */
async function pack(folder: string, to: string, about: string, sealer: Sealer): Promise<void> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.img'));
  const parts = names.map((name) => ({ name, size: statSync(join(folder, name)).size }));
  const file = await open(`${to}.draft`, 'w', 0o600);
  let n = 0;
  const put = async (bytes: Uint8Array): Promise<void> => {
    const box = sealer.seal(deflateRawSync(bytes, { level: 1 }), `${about} ${n++}`);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(box.length);
    await file.write(length);
    await file.write(box);
  };
  try {
    await put(Buffer.from(JSON.stringify(parts)));
    for (const { name } of parts) {
      for await (const piece of createReadStream(join(folder, name), { highWaterMark: PIECE }))
        await put(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await run(['mv', `${to}.draft`, to]);
}

async function unpack(from: string, folder: string, about: string, sealer: Sealer): Promise<void> {
  const file = await open(from, 'r');
  let n = 0;
  const take = async (): Promise<Uint8Array> => {
    const length = (await exactly(file, 4)).readUInt32BE();
    return inflateRawSync(sealer.open(await exactly(file, length), `${about} ${n++}`));
  };
  try {
    const parts = JSON.parse(Buffer.from(await take()).toString()) as { name: string; size: number }[];
    for (const { name, size } of parts) {
      const part = await open(join(folder, name), 'w', 0o600);
      try {
        for (let left = size; left > 0; ) {
          const piece = await take();
          await part.write(piece);
          left -= piece.length;
        }
      } finally {
        await part.close();
      }
    }
  } finally {
    await file.close();
  }
}

async function exactly(file: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length);
  if (bytesRead < length) throw new Error('its image is cut short');
  return bytes;
}

function run([program = '', ...args]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? '' };
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env, timeout: CRIU_MS });
    let said = '';
    child.stderr.on('data', (data: Buffer) => {
      said += data.toString();
    });
    child.on('error', reject);
    // Not `close`: a process that was restored may keep what criu had.
    child.on('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program}: ${said.trim().split('\n').at(-1) || `it ended with ${code}`}`));
    });
  });
}
