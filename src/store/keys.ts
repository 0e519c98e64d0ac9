/**
 * The key that seals heap images: from `OUTLAST_KEY`, else from a file beside the store, made at the first start.
 *
 * J1  A key in the environment wins, and then none is written to disk.
 * J2  The file appears whole or not at all, with mode 0600 in a folder with mode 0700; of two that start at once, both
 *     end up with the same key.
 * J3  A key that cannot be read is an error. It is never replaced: what it sealed would be lost.
 */

import { randomBytes, scryptSync } from 'node:crypto';
import { dirname, join } from 'node:path';
import { OutlastError } from '../core/error.ts';
import { KEY_BYTES } from '../lib/seal.ts';
import { nodeFiles as files } from './files.ts';

/**
 * The key of a data directory.
 *
 * @example
 * ```ts
 * const sealer = openSeal(await sealKey('.outlast', process.env));
 * ```
 */
export async function sealKey(
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Uint8Array> {
  return env.OUTLAST_KEY ? parseKey(env.OUTLAST_KEY) : keyInFile(join(dir, 'keys'));
}

/** For data that does not outlive the process. */
export function randomSealKey(): Uint8Array {
  return new Uint8Array(randomBytes(KEY_BYTES));
}

/** 32 bytes as hexadecimal or base64; anything else is a passphrase, stretched with scrypt. */
export function parseKey(text: string): Uint8Array {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return new Uint8Array(Buffer.from(trimmed, 'hex'));
  if (/^[\w+/-]{43}=?$/.test(trimmed)) return new Uint8Array(Buffer.from(trimmed, 'base64'));
  if (trimmed.length >= SHORTEST_PASSPHRASE) return stretched(trimmed);
  throw new OutlastError('request.invalid', 'OUTLAST_KEY is too short to protect anything.', {
    next: `give 32 bytes as hex or base64 (openssl rand -hex 32), or a passphrase of ${SHORTEST_PASSPHRASE} characters or more`,
  });
}

const SHORTEST_PASSPHRASE = 16;

/**
 * The salt is fixed: every machine with the passphrase must find the same key, and there is one key to a deployment.
 * The cost, 32 MB and some tenths of a second, is paid once a start.
 */
function stretched(passphrase: string): Uint8Array {
  const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };
  return new Uint8Array(scryptSync(passphrase.normalize('NFKC'), 'outlast seal 1', KEY_BYTES, cost));
}

function keyInFile(folder: string): Uint8Array {
  const path = join(files.folder(folder), 'seal.key');
  return readKey(path) ?? makeKey(path);
}

function readKey(path: string): Uint8Array | null {
  const bytes = files.read(path);
  if (bytes === null) return null;
  const text = Buffer.from(bytes).toString();
  if (/^[0-9a-f]{64}\n?$/.test(text)) return new Uint8Array(Buffer.from(text.trim(), 'hex'));
  throw new OutlastError('store.failed', `${path} does not hold a key.`, {
    next: 'put back the key from a backup; without it the heap images in this folder cannot be opened',
  });
}

function makeKey(path: string): Uint8Array {
  const fresh = `${path}.${process.pid}`;
  const file = files.open(fresh, 'anew');
  file.write(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
  file.sync();
  file.close();
  try {
    files.link(fresh, path); // Unlike a rename, this fails when another process was first.
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    files.remove(fresh);
  }
  files.syncFolder(dirname(path)); // A name that a power cut takes back would be a lost key.
  return readKey(path) as Uint8Array;
}
