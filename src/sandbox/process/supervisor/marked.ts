/** Processes without a namespace of their own are known by a mark in the environment that they were started with. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '../../../lib/clock.ts';
import { runs } from '../../../lib/runs.ts';

export const MARK = 'OUTLAST_JOB';

const AGAIN_MS = 50;

/** Again and again until none is left: one that is being started meanwhile would get away. */
export async function killMarked(mark: string): Promise<void> {
  for (let left = withMark(mark); left.length > 0; left = withMark(mark)) {
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
    await systemClock.sleep(AGAIN_MS);
  }
}

/** `mark` or its beginning, up to a dot. Nothing is found where there is no `/proc`. */
function withMark(mark: string): readonly number[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const env = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
      const isMarked = env.some((one) => one === `${MARK}=${mark}` || one.startsWith(`${MARK}=${mark}.`));
      return isMarked && runs(Number(name)) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
