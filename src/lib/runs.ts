/** Whether a process is still there. */

import { readFileSync } from 'node:fs';

/** Whether a process with this id runs; one that ended and waits to be collected does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** Where no init process collects orphans, a dead service keeps its id; `/proc`, where there is one, tells. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
