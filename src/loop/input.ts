/** Inputs: appended at the head by anyone with the right, without the lease; decided again when the head has moved. */

import { AUTHORITY, type Event, type EventBody } from '../core/event.ts';
import { append } from '../core/evolve.ts';
import type { SessionId } from '../core/ids.ts';
import type { State } from '../core/state.ts';
import { encode } from '../core/upcast.ts';
import { assert } from '../lib/assert.ts';
import { summarize } from '../projections/summary.ts';
import type { Blob } from '../store/port.ts';
import { Log, type LogPorts } from './log.ts';

/** The state after the append, and the events that were appended (none when the command changes nothing). */
export interface Appended {
  readonly state: State;
  readonly events: readonly Event[];
}

export async function appendInput(
  session: SessionId,
  ports: LogPorts,
  known: State | undefined,
  decide: (s: State, now: number) => readonly EventBody[],
  /** What the events name; nothing of it is kept when there are none. */
  blobs: readonly Blob[] = [],
): Promise<Appended> {
  const log = new Log(session, ports, known);
  for (;;) {
    await log.catchUp();
    // Decided at the very instant that it is dated with.
    const now = Math.max(ports.clock.now(), log.state.at);
    const bodies = decide(log.state, now);
    if (bodies.length === 0) return { state: log.state, events: [] };
    const { state, events } = stamp(log.state, bodies, now);
    const result = await ports.store.commit({
      session,
      head: log.state.head,
      epoch: null,
      events: events.map(encode),
      blobs,
      summary: summarize(state, ports.clock.now()),
    });
    if (result.status === 'committed') {
      ports.bell.ring(session, state.head);
      return { state, events };
    }
    // The head moved under us: fold and decide again. A store that says so without a longer log is broken.
    assert(
      result.status === 'conflict' && result.head > log.state.head,
      'a conflict means that the log has grown',
    );
  }
}

/** As the next events of a log, each of them an input. */
export function stamp(s: State, bodies: readonly EventBody[], now: number): Appended {
  for (const { kind } of bodies) assert(AUTHORITY[kind] === 'input', `${kind} is an input`);
  return append(s, bodies, now);
}
