/** What a holder that was fenced still knows: handed in as evidence for the one who holds the session now. */

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
    const { call, outcome } = done;
    await appendInput(session, ports, undefined, (s): readonly EventBody[] => {
      const open = s.effects.open.find((effect) => effect.id === call.effect);
      const needed = open && open.attempts === call.attempt && open.late === null;
      return needed
        ? [{ kind: 'evidence.received', effect: call.effect, epoch, attempt: call.attempt, outcome }]
        : [];
    });
  }
}
