/**
 * Server-sent events: how a log crosses as a stream, and what stands beside it.
 *
 * F1  The id of a frame is the event's seq, so a reader that comes back names exactly what it has.
 * F2  What is not in the log (`whisper`, `inbox`, `stale`, `failed`) has no id and moves no cursor.
 * F3  A frame is one line of JSON: no text of a model or a service can end it early.
 */

import type { Event, ForeignEvent } from '../core/event.ts';
import type { ErrorBody } from './error.ts';

/** Text while it is written: shown, never stored. */
export interface Whisper {
  readonly kind: 'whisper';
  readonly text: string;
}

/** Names of frames that are no events of the log. */
export const FRAMES = {
  /** Text deltas: `{"text":"…"}`. */
  whisper: 'whisper',
  /** All that awaits a person, whole: `{"items":[…]}`. */
  inbox: 'inbox',
  /** The cursor is of another log; the error body says what to do. The stream ends. */
  stale: 'stale',
  /** The stream broke on the server's side; the error body says why. The stream ends. */
  failed: 'failed',
} as const;

export function eventFrame(event: Event | ForeignEvent): string {
  return `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
}

export function whisperFrame({ text }: Whisper): string {
  return `event: ${FRAMES.whisper}\ndata: ${JSON.stringify({ text })}\n\n`;
}

export function inboxFrame(items: readonly unknown[]): string {
  return `event: ${FRAMES.inbox}\ndata: ${JSON.stringify({ items })}\n\n`;
}

export function errorFrame(name: 'stale' | 'failed', body: ErrorBody): string {
  return `event: ${FRAMES[name]}\ndata: ${JSON.stringify(body)}\n\n`;
}

/** Ignored by every reader; keeps proxies from cutting a silent stream. */
export function commentFrame(text: string): string {
  return `: ${text.replace(/[\r\n]+/g, ' ')}\n\n`;
}

/** The first line of a stream: how long a browser waits before it comes back. */
export function retryFrame(ms: number): string {
  return `retry: ${ms}\n\n`;
}
