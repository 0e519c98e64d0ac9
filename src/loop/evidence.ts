/** What somebody without the lease knows of a request that left: handed in as evidence for whoever holds the session. */

import { isNews } from '../core/effect.ts';
import type { EventBody } from '../core/event.ts';
import type { SessionId } from '../core/ids.ts';
import { appendInput } from './input.ts';
import type { LogPorts } from './log.ts';
import type { Performed } from './perform.ts';

export async function handIn(
  session: SessionId,
  performed: readonly Performed[],
  epoch: number,
  ports: LogPorts,
): Promise<void> {
  for (const done of performed) {
    if (done.do !== 'call' || done.outcome.status === 'unknown') continue;
    const { effect, attempt } = done.call;
    const evidence: EventBody = { kind: 'evidence.received', effect, epoch, attempt, outcome: done.outcome };
    await appendInput(session, ports, undefined, (s) => (isNews(s, evidence) ? [evidence] : []));
  }
}
