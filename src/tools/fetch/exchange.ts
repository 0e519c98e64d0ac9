/**
 * One exchange with a service: secrets go in at the last moment, and none comes back or stands in an error.
 *
 * O1  `NotSent` means that nothing left. It is not said where an earlier attempt of the same write may have arrived.
 * O2  No error holds a header, a body, a query or another error: only method, place and an error code.
 */

import { NotSent, type RunContext } from '../port.ts';
import { type FetchResult, readAnswer } from './answer.ts';
import type { Headers } from './headers.ts';
import { filled } from './request.ts';
import type { Handles } from './secret.ts';
import { codeOf, type Outgoing, type Send } from './send.ts';

/** What every exchange of a tool goes through. */
export interface Wire {
  readonly send: Send;
  readonly maxBytes: number;
  handles(origin: string): Handles;
}

export interface Exchange {
  /** With handles where secrets belong. */
  readonly request: Outgoing;
  /** Headers that the runtime sets; they win. */
  readonly ours: Headers;
  /** How errors call it: `POST http://127.0.0.1:4801/messages`. */
  readonly target: string;
  /** Secret fields of the answer. */
  readonly fields: readonly string[];
  /** An earlier attempt may have arrived, so "not sent" would be untrue of the effect (O1). */
  readonly maybeSentBefore: boolean;
}

export async function exchange(one: Exchange, { signal }: RunContext, wire: Wire): Promise<FetchResult> {
  const { target, maybeSentBefore } = one;
  try {
    return await exchanged(one, signal, wire);
  } catch (error) {
    if (error instanceof NotSent && !maybeSentBefore) throw new NotSent(`${target}: ${error.message}`);
    throw new Error(`${target}: ${reasonOf(error, signal)}`); // without a cause: it could hold the headers (O2)
  }
}

async function exchanged(
  { request, ours, fields }: Exchange,
  signal: AbortSignal,
  { send, maxBytes, handles: handlesOf }: Wire,
): Promise<FetchResult> {
  const handles = handlesOf(new URL(request.url).origin);
  const full = filled(request, handles);
  // Planning has opened the same handles: the key that sealed them is gone, and can come back.
  if ('refused' in full) throw new NotSent(full.refused.message);
  const headers = { accept: '*/*', 'user-agent': 'outlast', ...full.request.headers, ...ours };
  const outgoing = { ...full.request, headers: { ...headers, 'accept-encoding': 'identity' } };
  const incoming = await send(outgoing, signal);
  try {
    return await readAnswer(incoming, { maxBytes, fields, handles, opened: full.opened });
  } finally {
    incoming.close();
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof NotSent) return error.message;
  return signal.aborted
    ? 'no answer in time'
    : `the connection broke before the answer was complete${codeOf(error)}`;
}
