/**
 * Following over HTTP: a stream that is opened again from the last event that was seen, until the reader has enough.
 *
 * L1  Each event once, in order: the cursor moves only with an event that was handed out.
 * L2  A log that does not have the cursor is an error (`cursor.stale`), never a quiet gap.
 */

import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { OutlastError } from '../core/error.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import { systemClock } from '../lib/clock.ts';
import { errorOf } from '../protocol/error.ts';
import { pathOf } from '../protocol/routes.ts';
import { FRAMES, type Whisper } from '../protocol/sse.ts';
import { type Connection, mayPass, type Patience, patiently, reach, unreachable } from './request.ts';

export interface FollowOptions extends Patience {
  /** Seq of the last event that the reader has; 0 from the beginning. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  /** Also text while it is written. Off by default. */
  readonly whispers?: boolean;
}

const PAUSE_MS = 250;

export async function* follow(
  to: Connection,
  session: string,
  options: FollowOptions,
): AsyncGenerator<Event | ForeignEvent | Whisper, void, void> {
  const { signal, whispers = false, patienceMs = Number.POSITIVE_INFINITY } = options;
  let after = options.after ?? 0;
  while (!signal?.aborted) {
    const reader = await patiently({ ...options, patienceMs }, () =>
      open(to, session, after, whispers, signal),
    ).catch((error: unknown) => {
      if (signal?.aborted) return null;
      throw error;
    });
    if (reader === null) return;
    let brought = 0;
    for await (const message of messages(reader, signal)) {
      const value = readFrame(message);
      if (value === null) break;
      if (value.kind !== 'whisper') after = value.seq;
      brought++;
      yield value;
      // Nothing comes after a tombstone.
      if (value.kind === 'session.deleted') return;
    }
    // A connection that ends as soon as it is opened must not be opened in a hot loop.
    if (brought === 0) await systemClock.sleep(PAUSE_MS, signal);
  }
}

async function open(
  to: Connection,
  session: string,
  after: number,
  whispers: boolean,
  signal: AbortSignal | undefined,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const path = `${pathOf('events', session)}?after=${after}&whispers=${whispers}`;
  const init = { headers: { ...to.headers, accept: 'text/event-stream' } };
  const { body } = await reach(to, path, init, signal);
  if (body === null) throw unreachable(await to.base(), 'the answer has no body');
  return body.getReader();
}

/** The frames of one connection. Ends, and throws nothing, when the connection does. */
async function* messages(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventSourceMessage, void, void> {
  const decoder = new TextDecoder();
  const came: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => came.push(message) });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal?.aborted) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* came.splice(0);
    }
  } catch (error) {
    if (error instanceof OutlastError) throw error;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Null when the stream broke over something that passes. */
function readFrame({ event, data }: EventSourceMessage): Event | ForeignEvent | Whisper | null {
  const body: unknown = JSON.parse(data);
  if (event === FRAMES.stale || event === FRAMES.failed) {
    const error =
      errorOf(body) ?? new OutlastError('internal', 'The stream broke on the side of the server.');
    if (mayPass(error)) return null;
    throw error;
  }
  if (event === FRAMES.whisper) return { kind: 'whisper', text: (body as { text: string }).text };
  return body as Event | ForeignEvent;
}
