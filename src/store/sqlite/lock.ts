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

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OutlastError } from '../../core/error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isRecord } from '../../lib/json.ts';
import type { Database } from './driver.ts';

export interface Holder {
  readonly pid: number;
  /** When it opened the store, in milliseconds since the epoch. */
  readonly since: number;
}

const held = new Set<string>();

/** Claims the directory within this process; gives back what ends the claim. */
export function claim(dir: string): () => void {
  if (held.has(dir)) throw locked(dir);
  held.add(dir);
  return () => void held.delete(dir);
}

/** Takes the lock through a fresh connection; throws `store.locked` when it is not free within `waitMs`. */
export async function lock(db: Database, dir: string, clock: Clock, waitMs: number): Promise<void> {
  const deadline = clock.monotonic() + waitMs;
  db.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE');
  while (!tryLock(db)) {
    if (clock.monotonic() >= deadline) throw locked(dir);
    await clock.sleep(20);
  }
}

export function writeOwner(dir: string, since: number): void {
  const owner: Holder = { pid: process.pid, since };
  const path = join(dir, 'owner.json');
  try {
    writeFileSync(`${path}.next`, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(`${path}.next`, path);
  } catch {
    // A full disk, as a rule. The lock holds without it.
  }
}

export function forgetOwner(dir: string): void {
  rmSync(join(dir, 'owner.json'), { force: true });
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

function locked(dir: string): OutlastError {
  const owner = readOwner(dir);
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
function readOwner(dir: string): Holder | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(dir, 'owner.json'), 'utf8'));
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
