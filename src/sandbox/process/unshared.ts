/** The end of a process id namespace that `unshare` holds. */

import { readFileSync } from 'node:fs';

/**
 * Ends everything behind `unshare`, by its first process: it waits for that one and ends after it, when all is gone.
 * Killed itself, it would be gone before them, and nobody could tell when they are.
 */
export function endUnshared(pid: number): void {
  kill(firstInside(pid) ?? pid);
}

function firstInside(pid: number): number | null {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return first ? Number(first) : null;
  } catch {
    return null;
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone meanwhile.
  }
}
