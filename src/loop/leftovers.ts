/**
 * What an actor that ended on an error still held, or still waited for: answers to requests that have left. The next
 * actor of this process hands them in before it looks at anything, so that no effect is unknown whose answer is here.
 */

import type { SessionId } from '../core/ids.ts';
import { handIn } from './evidence.ts';
import type { LogPorts } from './log.ts';
import type { Performed } from './perform.ts';

interface Leftover {
  readonly epoch: number;
  readonly results: readonly Promise<Performed | null>[];
}

export class Leftovers {
  private readonly kept = new Map<SessionId, Leftover[]>();

  keep(session: SessionId, leftover: Leftover): void {
    if (leftover.results.length === 0) return;
    this.kept.set(session, [...(this.kept.get(session) ?? []), leftover]);
  }

  /** Waits for what is still on its way; every call has a time limit of its own. Throws while the store takes nothing. */
  async handIn(session: SessionId, ports: LogPorts): Promise<void> {
    for (const { epoch, results } of this.kept.get(session) ?? []) {
      const performed = (await Promise.all(results)).filter((result) => result !== null);
      await handIn(session, performed, epoch, ports);
    }
    this.kept.delete(session);
  }
}
