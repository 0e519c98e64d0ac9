/**
 * Waiting over HTTP: a session in one look, once it rests or the time is up. The command line learns so that it can
 * stop watching; a closed request stops nothing.
 */

import { OutlastError } from '../core/error.ts';
import type { Inspection } from '../runtime/inspect.ts';
import type { Sessions } from '../runtime/runtime.ts';

/** Asleep on a timer is no rest here: it goes on by itself. */
const GOES_ON: readonly string[] = ['working', 'stopping', 'sleeping'];

export async function atRest(
  sessions: Sessions,
  id: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<Inspection> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  for (;;) {
    const seen = await sessions.inspect(id);
    if (!GOES_ON.includes(seen.phase) || over.aborted) return seen;
    await (seen.phase === 'sleeping' ? oneMore(sessions, id, seen.head, over) : rest(sessions, id, over));
  }
}

async function rest(sessions: Sessions, id: string, signal: AbortSignal): Promise<void> {
  try {
    await sessions.rest(id, { signal });
  } catch (error) {
    if (!(error instanceof OutlastError && error.code === 'server.closing')) throw error;
  }
}

/** Resolves once the log has grown past `head`. */
async function oneMore(sessions: Sessions, id: string, head: number, signal: AbortSignal): Promise<void> {
  for await (const _ of sessions.follow(id, { after: head, signal })) return;
}
