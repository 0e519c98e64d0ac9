/**
 * What the kernel does not bound is looked at while anything runs: the disk always, memory and number of processes where
 * there is no cgroup. What is over its bound is ended.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import type { Ending, ProcessLimits } from '../port.ts';

const LOOK_MS = 500;
/** Looking at a large tree takes its time: a small share of it all. */
const SHARE = 20;
/** What `stat` counts in. */
const BLOCK = 512;

export interface Watched {
  readonly folders: readonly string[];
  readonly limits: ProcessLimits;
  /** Whether the kernel bounds memory and processes already, or they cannot be told from those of others. */
  readonly isHeld: boolean;
  /** Whether anything runs. */
  isBusy(): boolean;
  end(cause: Ending): Promise<void>;
}

/** Until the signal aborts. */
export async function watch(watched: Watched, signal: AbortSignal): Promise<void> {
  const { limits, folders, isHeld } = watched;
  let pauseMs = LOOK_MS;
  while (!signal.aborted) {
    await systemClock.sleep(pauseMs, signal);
    pauseMs = LOOK_MS;
    if (!watched.isBusy()) continue;
    const began = systemClock.monotonic();
    const most = limits.diskMb * 2 ** 20;
    if ((await sizeOf(folders, most)) > most) await watched.end('disk');
    if (!isHeld) {
      const { bytes, processes } = tree();
      if (bytes > limits.memoryMb * 2 ** 20) await watched.end('memory');
      if (processes > limits.processes) await watched.end('processes');
    }
    pauseMs = Math.max(LOOK_MS, (systemClock.monotonic() - began) * SHARE);
  }
}

/** Bytes on the disk below some folders; stops counting past `most`. */
export async function sizeOf(folders: readonly string[], most: number): Promise<number> {
  let bytes = 0;
  const left = [...folders];
  for (let folder = left.pop(); folder !== undefined && bytes <= most; folder = left.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) left.push(path);
      else bytes += ((await lstat(path).catch(() => null))?.blocks ?? 0) * BLOCK;
    }
  }
  return bytes;
}

/** All processes of the namespace but its first one and this. */
function tree(): { readonly bytes: number; readonly processes: number } {
  let bytes = 0;
  let processes = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || name === '1' || Number(name) === process.pid) continue;
    try {
      bytes += Number(readFileSync(`/proc/${name}/statm`, 'utf8').split(' ')[1] ?? 0) * 4_096;
      processes++;
    } catch {
      // Gone meanwhile.
    }
  }
  return { bytes, processes };
}
