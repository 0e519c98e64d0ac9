/**
 * One exchange with a service: secrets go in at the last moment, and none comes back or stands in an error.
 *
 * O1  `NotSent` means that nothing left. It is not said where an earlier attempt of the same write may have arrived.
 * O2  No error holds a header, a body, a query or another error: only method, place and an error code.
 */

import { NotSent, type Refusal, type RunContext } from '../port.ts';
import { type FetchResult, readAnswer } from './answer.ts';
import type { Headers } from './headers.ts';
import { type FilledRequest, filled } from './request.ts';
import { ForeignHandle, type Handles } from './secret.ts';
import { codeOf, type Outgoing, type Send } from './send.ts';

export interface Exchange {
  /** With handles where secrets belong. */
  readonly request: Outgoing;
  /** Headers that the runtime sets; they win. */
  readonly ours: Headers;
  /** How errors call it: `POST http://127.0.0.1:4801/messages`. */
  readonly target: string;
  readonly handles: Handles;
  /** Secret fields of the answer. */
  readonly fields: readonly string[];
  readonly maxBytes: number;
  readonly send: Send;
  /** An earlier attempt may have arrived, so "not sent" would be untrue of the effect (O1). */
  readonly maybeSentBefore: boolean;
}

export async function exchange(one: Exchange, { signal }: Pick<RunContext, 'signal'>): Promise<FetchResult> {
  const { target, maybeSentBefore } = one;
  try {
    return await exchanged(one, signal);
  } catch (error) {
    if (error instanceof NotSent && !maybeSentBefore) throw new NotSent(`${target}: ${error.message}`);
    throw new Error(`${target}: ${reasonOf(error, signal)}`); // without a cause: it could hold the headers (O2)
  }
}

async function exchanged(one: Exchange, signal: AbortSignal): Promise<FetchResult> {
  const { ours, handles, fields, maxBytes } = one;
  const full = fill(one.request, handles);
  // Planning has opened the same handles: the key that sealed them is gone, and can come back.
  if ('refused' in full) throw new NotSent(full.refused.message);
  const { request, opened } = full;
  const headers = { accept: '*/*', 'user-agent': 'outlast', ...request.headers, ...ours };
  const incoming = await one.send(
    { ...request, headers: { ...headers, 'accept-encoding': 'identity' } },
    signal,
  );
  try {
    return await readAnswer(incoming, { maxBytes, fields, handles, opened });
  } finally {
    incoming.close();
  }
}

/** The request as it leaves, or why it may not. */
export function fill(request: Outgoing, handles: Handles): FilledRequest | Refusal {
  try {
    return filled(request, handles);
  } catch (error) {
    if (error instanceof ForeignHandle)
      return { refused: { code: 'secret.foreign', message: error.message } };
    throw error;
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof NotSent) return error.message;
  return signal.aborted
    ? 'no answer in time'
    : `the connection broke before the answer was complete${codeOf(error)}`;
}
