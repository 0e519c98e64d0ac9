/**
 * One process owns a data directory, by a lock of the operating system.
 *
 * L1  The lock is SQLite's own, on the database file, and never let go while the store is open. The kernel frees it when
 *     the process ends, however it ends, so the next one gets in at once and no file has to be judged stale.
 * L2  Nobody can hold up a commit: there is no other connection that could hold the write lock.
 * L3  `owner.json` only helps to explain. It is written after the lock is held, and decides nothing.
 * L4  POSIX locks do not keep a process from itself, and closing any handle on the file gives them back. So a directory
 *     that this process has open is refused here, and nobody else in it may open `outlast.db`.
 *
 * Locks of network file systems are as good as the file system; keep the directory on a local disk.
 */

import { join } from 'node:path';
import { OutlastError } from '../../core/error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isRecord } from '../../lib/json.ts';
import { type Files, writeFile } from '../files.ts';
import type { Database } from './driver.ts';

export interface Holder {
  readonly pid: number;
  /** When it opened the store, in milliseconds since the epoch. */
  readonly since: number;
}

const held = new Set<string>();

/** A directory, and the files in it. */
interface Where {
  readonly dir: string;
  readonly files: Files;
}

/** A directory that another process may be just leaving. */
interface Leavable extends Where {
  readonly clock: Clock;
  readonly waitMs: number;
}

/** Claims the directory within this process; gives back what ends the claim. */
export function claim({ dir, files }: Where): () => void {
  if (held.has(dir)) throw locked({ dir, files });
  held.add(dir);
  return () => void held.delete(dir);
}

/** Takes the lock through a fresh connection; throws `store.locked` when it is not free within `waitMs`. */
export async function lock(db: Database, place: Leavable): Promise<void> {
  const { clock, waitMs } = place;
  const deadline = clock.monotonic() + waitMs;
  db.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE');
  while (!tryLock(db)) {
    if (clock.monotonic() >= deadline) throw locked(place);
    await clock.sleep(20);
  }
}

export function writeOwner({ dir, files }: Where, since: number): void {
  const owner: Holder = { pid: process.pid, since };
  const path = join(dir, 'owner.json');
  try {
    writeFile(files, `${path}.next`, `${JSON.stringify(owner)}\n`);
    files.rename(`${path}.next`, path);
  } catch {
    // A full disk, as a rule. The lock holds without it.
  }
}

export function forgetOwner({ dir, files }: Where): void {
  files.remove(join(dir, 'owner.json'));
}

function tryLock(db: Database): boolean {
  try {
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    return true;
  } catch (error) {
    if (error instanceof OutlastError && error.code === 'store.busy') return false;
    throw error;
  }
}

function locked({ dir, files }: Where): OutlastError {
  const owner = readOwner({ dir, files });
  const who = owner
    ? `process ${owner.pid}, since ${new Date(owner.since).toISOString()}`
    : 'another program that has outlast.db open';
  return new OutlastError('store.locked', `The data in ${dir} is in use by ${who}.`, {
    next: owner
      ? `go through that server, end process ${owner.pid}, or choose another folder with OUTLAST_DATA`
      : 'close the program that has it open, or choose another folder with OUTLAST_DATA',
  });
}

/** Null when there is no such file, or its process is gone: then it is not the one that holds the lock. */
function readOwner({ dir, files }: Where): Holder | null {
  try {
    const bytes = files.read(join(dir, 'owner.json'));
    const owner: unknown = bytes && JSON.parse(Buffer.from(bytes).toString());
    if (!isRecord(owner)) return null;
    const { pid, since } = owner;
    return typeof pid === 'number' && typeof since === 'number' && isAlive(pid) ? { pid, since } : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
