/**
 * A session's log as a stream of server-sent events.
 *
 * L1  Every event after the cursor, once and in order; a reader that comes back with its last id misses nothing.
 * L2  A cursor that this log never had is answered with `stale`, never with a stream that starts elsewhere.
 * L3  A chunk is put together when the reader takes it, so a slow reader holds one page in memory and no more; between
 *     chunks everything else has its turn.
 * L4  Closing a stream stops nothing but the stream.
 */

import { OutlastError } from '../core/error.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import type { Clock } from '../lib/clock.ts';
import { errorBody, staleCursor } from '../protocol/error.ts';
import {
  commentFrame,
  errorFrame,
  eventFrame,
  retryFrame,
  type Whisper,
  whisperFrame,
} from '../protocol/sse.ts';
import type { Sessions } from '../runtime/runtime.ts';

export interface StreamOptions {
  readonly after: number;
  readonly whispers: boolean;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly heartbeatMs: number;
  /** The server is going. */
  readonly closing: AbortSignal;
  readonly report: (line: string, cause?: unknown) => void;
}

const RETRY_MS = 1_000;
/** Characters that go out at once while a reader catches up. */
const CHUNK = 16 * 1024;
const LAST_WORD = 'the server is closing; come back with Last-Event-ID';

/** Throws before the first byte when the session is not the caller's. */
export async function eventStream(
  sessions: Sessions,
  id: string,
  options: StreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  try {
    await checkCursor(sessions, id, options.after);
  } catch (error) {
    if (!isStale(error)) throw error;
    return oneChunk(errorFrame('stale', errorBody(error)));
  }
  return following(sessions, id, options);
}

/** L2, without counting: event N stands, or N is no cursor of this log. */
export async function checkCursor(sessions: Sessions, id: string, after: number): Promise<void> {
  const [event] = await sessions.events(id, Math.max(0, after - 1), 1);
  if (after === 0 || (after > 0 && event?.seq === after)) return;
  throw staleCursor(after, (await sessions.inspect(id)).head);
}

function following(sessions: Sessions, id: string, options: StreamOptions): ReadableStream<Uint8Array> {
  const { after, whispers, clock, heartbeatMs, closing, report } = options;
  const gone = new AbortController();
  const events = sessions.follow(id, { after, whispers, signal: AbortSignal.any([gone.signal, closing]) });
  const encoder = new TextEncoder();
  let next: Promise<Came> | null = null;
  let isFirst = true;

  /** What is there already, up to a chunk; if nothing is, the next event or a heartbeat, whichever comes first. */
  async function chunk(): Promise<{ readonly text: string; readonly isLast: boolean }> {
    let text = isFirst ? retryFrame(RETRY_MS) : '';
    isFirst = false;
    const soon = new Promise<null>((resolve) => setImmediate(resolve, null));
    while (text.length < CHUNK) {
      next ??= events.next();
      const came = (await Promise.race([next, soon])) ?? (text === '' ? await patiently(next) : null);
      if (came === null) return { text: text === '' ? commentFrame('still here') : text, isLast: false };
      next = null;
      if (came.done) return { text: text + commentFrame(LAST_WORD), isLast: true };
      text += frameOf(came.value);
    }
    return { text, isLast: false };
  }

  async function patiently(event: Promise<Came>): Promise<Came | null> {
    const beat = new AbortController();
    const heartbeat = clock.sleep(heartbeatMs, beat.signal).then(() => null);
    return Promise.race([event, heartbeat]).finally(() => beat.abort());
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { text, isLast } = await chunk();
          controller.enqueue(encoder.encode(text));
          if (isLast) controller.close();
        } catch (error) {
          if (gone.signal.aborted) return;
          report(`${id}: a stream broke`, error);
          controller.enqueue(encoder.encode(errorFrame('failed', errorBody(error))));
          controller.close();
        }
      },
      async cancel() {
        gone.abort();
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
}

type Came = IteratorResult<Event | ForeignEvent | Whisper, void>;

function frameOf(value: Event | ForeignEvent | Whisper): string {
  return value.kind === 'whisper' ? whisperFrame(value) : eventFrame(value);
}

function oneChunk(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

function isStale(error: unknown): boolean {
  return error instanceof OutlastError && error.code === 'cursor.stale';
}
