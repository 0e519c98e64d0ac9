/**
 * Following: events of a log from an offset, each once and in order, whatever was missed. Followers need no lease and
 * keep nothing running; closing one stops nothing.
 */

import type { Event, ForeignEvent } from '../core/event.ts';
import type { SessionId } from '../core/ids.ts';
import { decode } from '../core/upcast.ts';
import { Nudge } from '../lib/clock.ts';
import type { Ports } from '../loop/ports.ts';

/** Text while it is written: shown, never stored, and gone once its reply stands in the log. */
export interface Whisper {
  readonly kind: 'whisper';
  readonly text: string;
}

const PAGE = 200;
/** Characters kept for a reader who is slow; what is older is of no use to anybody. */
const WHISPER_MAX = 16_000;
/** A bell may be lost; then a follower notices this much later. */
const LOOK_MS = 1_000;

export async function* follow(
  session: SessionId,
  ports: Pick<Ports, 'store' | 'bell' | 'clock'>,
  options: { after: number; signal?: AbortSignal; whispers?: boolean },
): AsyncGenerator<Event | ForeignEvent | Whisper, void, void> {
  let { after } = options;
  let whispered = '';
  let rang = false;
  let wake: () => void = () => {};
  const off = ports.bell.on(session, {
    rang() {
      rang = true;
      wake();
    },
    whispered(delta) {
      if (!options.whispers) return;
      whispered = `${whispered}${delta}`.slice(-WHISPER_MAX);
      wake();
    },
  });
  const aborted = () => wake();
  options.signal?.addEventListener('abort', aborted, { once: true });
  try {
    while (!options.signal?.aborted) {
      rang = false;
      // A page at a time: a long backlog is never held in memory whole.
      const rows = await ports.store.read(session, after, PAGE);
      // Before the rows: the reply that these words belong to may be among them.
      if (whispered !== '') {
        const text = whispered;
        whispered = '';
        yield { kind: 'whisper', text };
      }
      for (const row of rows) {
        yield decode(row);
        after = row.seq;
        // Nothing comes after a tombstone.
        if (row.kind === 'session.deleted') return;
      }
      if (rows.length === PAGE) continue;
      if (rang || whispered !== '' || options.signal?.aborted) continue;
      const over = new Nudge();
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await Promise.race([woken, ports.clock.sleep(LOOK_MS, over)]);
      over.give();
    }
  } finally {
    off();
    options.signal?.removeEventListener('abort', aborted);
  }
}
