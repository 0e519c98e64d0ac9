/**
 * The answer of a service as the runtime keeps it: bounded, well-formed, and free of secrets.
 *
 * N1  `body` has at most `maxBytes` bytes of UTF-8, cut between characters; then `truncated` says so.
 * N2  Secret fields are sealed and known secrets are taken out before anything is returned, also across the cut.
 * N3  Where secret fields are expected and cannot be found (cut off, or no JSON in a success), the body is withheld.
 */

import { type Json, parseJson } from '../../lib/json.ts';
import { type Headers, incomingHeaders } from './headers.ts';
import { redact, widest } from './redact.ts';
import { sealFields } from './seal-fields.ts';
import type { Handles, Secret } from './secret.ts';
import type { Incoming } from './send.ts';

/** What a call of `fetch` brings; `truncated` and `withheld` are there only when they say something. */
export type FetchResult = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly truncated?: true;
  /** Why the body is empty although there was one. */
  readonly withheld?: string;
} & { readonly [key: string]: Json };

export interface Reading {
  readonly maxBytes: number;
  /** Fields of the answer to be sealed. */
  readonly fields: readonly string[];
  readonly handles: Handles;
  /** Secrets that went out with the request. */
  readonly opened: readonly Secret[];
}

export async function readAnswer(incoming: Incoming, reading: Reading): Promise<FetchResult> {
  const { maxBytes, opened } = reading;
  const bytes = await upTo(incoming.body, maxBytes + widest(opened) + 1);
  const encoding = incoming.headers['content-encoding'] ?? 'identity';
  const whole = bytes.length <= maxBytes;
  if (bytes.length > 0 && encoding !== 'identity') {
    return withheld(incoming, reading, 'It came compressed, which was not asked for.');
  }
  if (bytes.length > 0 && reading.fields.length > 0) return sealedAnswer(incoming, reading, bytes, whole);
  const text = decode(bytes, whole);
  const end = whole ? text.length : decode(bytes.subarray(0, maxBytes)).length;
  return answer(incoming, redact(text, opened, end), reading, opened, !whole);
}

function sealedAnswer(incoming: Incoming, reading: Reading, bytes: Uint8Array, whole: boolean): FetchResult {
  const { fields, handles, opened } = reading;
  const text = decode(bytes, whole);
  if (!whole) return withheld(incoming, reading, 'It is too long for its secret fields to be sealed.');
  if (parseJson(text) === undefined) {
    const isError = incoming.status >= 400;
    return isError
      ? answer(incoming, redact(text, opened), reading, opened, false)
      : withheld(incoming, reading, 'It is not JSON, so its secret fields could not be sealed.');
  }
  const sealed = sealFields(text, fields, handles);
  const secrets = [...opened, ...sealed.secrets];
  return answer(incoming, redact(sealed.text, secrets), reading, secrets, false);
}

/** `text` is clean; handles can have made it longer than what came. */
function answer(
  { status, headers }: Incoming,
  text: string,
  { maxBytes }: Reading,
  secrets: readonly Secret[],
  truncated: boolean,
): FetchResult {
  const body = cut(text, maxBytes);
  return {
    status,
    headers: incomingHeaders(headers, (value) => redact(value, secrets)),
    body,
    ...(truncated || body.length < text.length ? { truncated: true } : {}),
  };
}

function withheld({ status, headers }: Incoming, { opened }: Reading, why: string): FetchResult {
  return {
    status,
    // Its secrets are not known, so no header may repeat them either.
    headers: incomingHeaders({ 'content-type': headers['content-type'] ?? '' }, (value) =>
      redact(value, opened),
    ),
    body: '',
    withheld: why,
  };
}

/** The first `max` bytes; then the rest is not waited for. */
async function upTo(body: AsyncIterable<Uint8Array>, max: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= max) break;
  }
  return Buffer.concat(chunks).subarray(0, max);
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes ? text : decode(bytes.subarray(0, maxBytes));
}

/** What is no UTF-8 becomes U+FFFD; a character that our own cut has parted is left out. */
const decode = (bytes: Uint8Array, whole = false): string =>
  new TextDecoder().decode(bytes, { stream: !whole });
