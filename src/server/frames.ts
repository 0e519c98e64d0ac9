/**
 * Anything that comes one by one, as a stream of server-sent events.
 *
 * L3  A chunk is put together when the reader takes it, so a slow reader holds one page in memory and no more; between
 *     chunks everything else has its turn.
 * L4  Closing a stream stops nothing but the stream.
 */

import type { Clock } from '../lib/clock.ts';
import { errorBody } from '../protocol/error.ts';
import { commentFrame, errorFrame, retryFrame } from '../protocol/sse.ts';

export type Stream = ReadableStream<Uint8Array>;

export interface FrameOptions {
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

/** `open` begins what is streamed, and ends it when its signal aborts; `what` names it in reports. */
export function frames<T>(
  what: string,
  open: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
  frameOf: (value: T) => string,
  { clock, heartbeatMs, closing, report }: FrameOptions,
): Stream {
  const gone = new AbortController();
  const values = open(AbortSignal.any([gone.signal, closing]));
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<T, void>> | null = null;
  let isFirst = true;

  /** What is there already, up to a chunk; if nothing is, the next value or a heartbeat, whichever comes first. */
  async function chunk(): Promise<{ readonly text: string; readonly isLast: boolean }> {
    let text = isFirst ? retryFrame(RETRY_MS) : '';
    isFirst = false;
    const soon = new Promise<null>((resolve) => setImmediate(resolve, null));
    while (text.length < CHUNK) {
      next ??= values.next();
      const came = (await Promise.race([next, soon])) ?? (text === '' ? await patiently(next) : null);
      if (came === null) return { text: text === '' ? commentFrame('still here') : text, isLast: false };
      next = null;
      if (came.done) return { text: text + commentFrame(LAST_WORD), isLast: true };
      text += frameOf(came.value);
    }
    return { text, isLast: false };
  }

  async function patiently(value: Promise<IteratorResult<T, void>>): Promise<IteratorResult<T, void> | null> {
    const beat = new AbortController();
    const heartbeat = clock.sleep(heartbeatMs, beat.signal).then(() => null);
    return Promise.race([value, heartbeat]).finally(() => beat.abort());
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
          report(`${what}: a stream broke`, error);
          controller.enqueue(encoder.encode(errorFrame('failed', errorBody(error))));
          controller.close();
        }
      },
      async cancel() {
        gone.abort();
        await values.return();
      },
    },
    { highWaterMark: 0 },
  );
}
