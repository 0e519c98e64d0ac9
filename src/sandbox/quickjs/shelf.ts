/**
 * The engine builds that images need, kept by hash beside the data, so that an upgrade strands no session.
 *
 * K1  What `get` returns has the hash that was asked for; a damaged file counts as missing.
 * K2  A build on disk is whole or not there: it is written under another name and renamed.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../lib/digest.ts';

export interface EngineShelf {
  /** The build with this SHA-256, or null when it is not there. */
  get(hash: string): Promise<Uint8Array | null>;
  /** Puts a build on the shelf; one that stands there already is left alone. */
  keep(bytes: Uint8Array): Promise<void>;
  /** The hash of the build that was put there last; null when the shelf is empty. */
  newest(): Promise<string | null>;
}

/** A shelf that ends with the process. */
export function memoryShelf(): EngineShelf {
  const builds = new Map<string, Uint8Array>();
  return {
    get: async (hash) => builds.get(hash) ?? null,
    keep: async (bytes) => void builds.set(sha256(bytes), bytes),
    newest: async () => [...builds.keys()].at(-1) ?? null,
  };
}

/**
 * A shelf in a folder, one file for each build.
 *
 * @example
 * ```ts
 * const shelf = directoryShelf('data/engines');
 * ```
 */
export function directoryShelf(folder: string): EngineShelf {
  const pathOf = (hash: string) => join(folder, `${hash}.wasm`);
  return {
    async get(hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return null;
      const bytes = await readFile(pathOf(hash)).catch(missingIsNull);
      return bytes !== null && sha256(bytes) === hash ? bytes : null;
    },
    async keep(bytes) {
      const hash = sha256(bytes);
      if ((await this.get(hash)) !== null) return;
      await mkdir(folder, { recursive: true });
      const draft = join(folder, `.${hash}.${randomBytes(6).toString('hex')}`);
      await writeFile(draft, bytes, { flush: true });
      await rename(draft, pathOf(hash));
    },
    async newest() {
      const names = (await readdir(folder).catch(missingIsNull)) ?? [];
      const hashes = names.flatMap((name) => FILE.exec(name)?.[1] ?? []);
      const found = await Promise.all(
        hashes.map(async (hash) => ({
          hash,
          at: (await stat(pathOf(hash)).catch(missingIsNull))?.mtimeMs ?? 0,
        })),
      );
      return found.sort((a, b) => b.at - a.at)[0]?.hash ?? null;
    },
  };
}

const FILE = /^([0-9a-f]{64})\.wasm$/;

function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
