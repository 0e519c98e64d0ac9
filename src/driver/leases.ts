/**
 * The built-in driver: one process, leases in the store, a sweeper over what is due.
 *
 * V1  One drive per session at a time; a wake during a drive leads to one more look after it.
 * V2  However many are due at once, they begin page by page, so that whoever comes in meanwhile is not kept waiting.
 * V3  A drive that throws is tried again after a growing pause; it never takes the others with it.
 */

import { setMaxListeners } from 'node:events';
import type { SessionId } from '../core/ids.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/port.ts';
import type { Drive, Driver } from './port.ts';

interface Options {
  readonly store: Pick<Store, 'due' | 'nextDue'>;
  readonly clock: Clock;
  readonly report: (line: string, cause?: unknown) => void;
  /** How often the sweeper looks, at the least. */
  readonly sweepMs?: number;
  /** Sessions of one owner that may work at once, unless the owner has a number of its own. */
  readonly slots?: number | undefined;
}

const SWEEP_PAGE = 100;
/** Until the next page, where one was full. */
const STAGGER_MS = 200;

export function leaseDriver({ store, clock, report, sweepMs = 1_000, slots = 20 }: Options): Driver {
  const stopping = new AbortController();
  // One listener for each session at work is no leak.
  setMaxListeners(0, stopping.signal);
  const drives = new Map<SessionId, { again: boolean; done: Promise<void> }>();
  const failures = new Map<SessionId, { count: number; notBefore: number }>();
  let drive: Drive | null = null;
  let sweeping: Promise<void> = Promise.resolve();

  async function run(session: SessionId): Promise<void> {
    const entry = drives.get(session);
    try {
      do {
        if (entry) entry.again = false;
        await drive?.(session, stopping.signal);
        failures.delete(session);
      } while (entry?.again && !stopping.signal.aborted);
    } catch (error) {
      const count = (failures.get(session)?.count ?? 0) + 1;
      failures.set(session, { count, notBefore: clock.now() + Math.min(60_000, 250 * 2 ** count) });
      report(`${session}: the drive ended with an error (${count} in a row)`, error);
    } finally {
      drives.delete(session);
    }
  }

  function wake(session: SessionId): void {
    if (stopping.signal.aborted || !drive) return;
    const entry = drives.get(session);
    if (entry) {
      entry.again = true;
      return;
    }
    const started = { again: false, done: Promise.resolve() };
    drives.set(session, started);
    started.done = run(session);
  }

  async function sweep(): Promise<void> {
    while (!stopping.signal.aborted) {
      const wait = await sweepOnce().catch((error: unknown) => {
        report('the sweeper could not look', error);
        return sweepMs;
      });
      await clock.sleep(wait, stopping.signal);
    }
  }

  async function sweepOnce(): Promise<number> {
    const now = clock.now();
    // Those at work stay due, and those that failed too: they must not fill the page and hide the others.
    const known = drives.size + failures.size;
    let woken = 0;
    for (const session of await store.due(now, SWEEP_PAGE + known, slots)) {
      const failed = failures.get(session);
      if (woken === SWEEP_PAGE || drives.has(session) || (failed?.notBefore ?? 0) > now) continue;
      wake(session);
      woken++;
    }
    if (woken === SWEEP_PAGE) return Math.min(sweepMs, STAGGER_MS);
    const next = await store.nextDue();
    return next === null || next <= now ? sweepMs : Math.min(sweepMs, next - now);
  }

  return {
    start(given) {
      drive = given;
      sweeping = sweep();
    },
    wake,
    isDriving: (session) => drives.has(session),
    async stop() {
      stopping.abort();
      await sweeping;
      await Promise.all([...drives.values()].map((entry) => entry.done));
    },
  };
}
