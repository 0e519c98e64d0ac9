/**
 * What goes on, as a stream of server-sent events: the log of a session, and the inbox of an owner.
 *
 * L1  Every event after the cursor, once and in order; a reader that comes back with its last id misses nothing.
 * L2  A cursor that this log never had is answered with `stale`, never with a stream that starts elsewhere.
 */

import { OutlastError } from '../core/error.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import { errorBody, staleCursor } from '../protocol/error.ts';
import { errorFrame, eventFrame, inboxFrame, type Whisper, whisperFrame } from '../protocol/sse.ts';
import type { Sessions } from '../runtime/runtime.ts';
import { type FrameOptions, frames, type Stream } from './frames.ts';

interface EventOptions extends FrameOptions {
  readonly after: number;
  readonly whispers: boolean;
}

/** Throws before the first byte when the session is not the caller's. */
export async function eventStream(
  sessions: Sessions,
  id: string,
  { after, whispers, ...options }: EventOptions,
): Promise<Stream> {
  try {
    await checkCursor(sessions, id, after);
  } catch (error) {
    if (!isStale(error)) throw error;
    return oneChunk(errorFrame('stale', errorBody(error)));
  }
  return frames(id, (signal) => sessions.follow(id, { after, whispers, signal }), frameOf, options);
}

/** Everything that awaits the owner, whole, and again when it has changed. */
export function inboxStream(sessions: Sessions, options: FrameOptions): Stream {
  return frames('inbox', (signal) => sessions.watchInbox({ signal }), inboxFrame, options);
}

/** L2, without counting: event N stands, or N is no cursor of this log. */
export async function checkCursor(sessions: Sessions, id: string, after: number): Promise<void> {
  const [event] = await sessions.events(id, Math.max(0, after - 1), 1);
  if (after === 0 || (after > 0 && event?.seq === after)) return;
  // What was read of it is gone; its tombstone is what comes next.
  if (after > 0 && event?.kind === 'session.deleted' && after < event.seq) return;
  throw staleCursor(after, (await sessions.inspect(id)).head);
}

function frameOf(value: Event | ForeignEvent | Whisper): string {
  return value.kind === 'whisper' ? whisperFrame(value) : eventFrame(value);
}

function oneChunk(text: string): Stream {
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
