/**
 * When a server has to end: asked by a signal, or left alone by the npm that started it.
 *
 * D1  The first signal asks for a clean end. A second one ends the process at once.
 * D2  npm passes a Ctrl-C on that the terminal has sent to all already: what comes within a moment is the same asking.
 * D3  npm that was killed cannot pass anything on. So a server that npm started watches whether its parent is there.
 */

import { systemClock } from '../lib/clock.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const SAME_ASKING_MS = 500;
const WATCH_MS = 1_000;

/** Resolves with the reason once the server has to end. */
export function toldToEnd(): Promise<string> {
  const reason = new Promise<string>((resolve) => {
    let askedAt: number | null = null;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        const now = systemClock.monotonic();
        askedAt ??= now;
        if (now - askedAt > SAME_ASKING_MS) process.exit(1);
        resolve(signal);
      });
    }
  });
  return process.env.npm_lifecycle_event === undefined ? reason : Promise.race([reason, orphaned()]);
}

/** D3. */
async function orphaned(): Promise<string> {
  const parent = process.ppid;
  while (process.ppid === parent) await systemClock.sleep(WATCH_MS);
  return 'npm is gone';
}
