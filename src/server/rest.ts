/**
 * Waiting over HTTP: a session in one look, once it rests or the time is up. The command line learns so that it can
 * stop watching; a closed request stops nothing.
 */

import { OutlastError } from '../core/error.ts';
import type { Inspection } from '../projections/inspection.ts';
import type { Sessions } from '../runtime/runtime.ts';

export async function atRest(
  sessions: Sessions,
  id: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<Inspection> {
  try {
    await sessions.rest(id, { signal: AbortSignal.any([signal, AbortSignal.timeout(waitMs)]) });
  } catch (error) {
    // The time is up, or the server is going: then the look shows a session that still works.
    if (!(error instanceof OutlastError && error.code === 'server.closing')) throw error;
  }
  return sessions.inspect(id);
}
