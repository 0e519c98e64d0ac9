/** Who listens on a port that we wanted: said in words, so that a person knows what to end or where to look. */

import { health } from '../protocol/schema.ts';

const BOUND_MS = 1_500;

export async function whoListens(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(BOUND_MS) });
    const found = health.safeParse(await response.json());
    if (!found.success) return 'another program that speaks HTTP';
    const { pid, data } = found.data;
    return pid === null
      ? 'another Outlast, which wants a token before it says more'
      : `another Outlast: process ${pid}, data in ${data ?? 'memory'}`;
  } catch {
    return 'another program';
  }
}
