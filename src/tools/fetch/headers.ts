/**
 * Which headers go out and which come in.
 *
 * D1  Out: lower-cased, sorted, one value each. What belongs to the connection, to a proxy or to cookies is dropped,
 *     and so is what would change the method that was granted.
 * D2  Keys, references and epochs are the runtime's to set: what the caller sends under their names is dropped.
 * D3  In: a short list that helps to read an answer. Cookies never come in.
 */

import { isRecord, type Json } from '../../lib/json.ts';
import type { RunContext } from '../port.ts';

export type Headers = Readonly<Record<string, string>>;

export const KEY_HEADER = 'Idempotency-Key';
export const REFERENCE_HEADER = 'X-Reference';
const EPOCH_HEADER = 'X-Outlast-Epoch';

const OURS = [KEY_HEADER, REFERENCE_HEADER, EPOCH_HEADER].map((name) => name.toLowerCase());
const DROPPED = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'te', 'trailer', 'connection', 'keep-alive', 'upgrade'],
  ...['expect', 'accept-encoding', 'cookie', 'cookie2', 'via', 'forwarded', 'origin', 'referer'],
  ...['x-http-method', 'x-http-method-override', 'x-method-override'],
  ...OURS,
]);
const DROPPED_FAMILY = /^(proxy-|sec-|x-forwarded-)/;

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII and Latin-1, spaces and tabs: no line can begin in here. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export const isHeaderValue = (text: string): boolean => VALUE.test(text);

/** The header by which a service can refuse the holder of an older lease. */
export const epochMark = ({ epoch }: Pick<RunContext, 'epoch'>): Headers => ({
  [EPOCH_HEADER.toLowerCase()]: String(epoch),
});

/** The headers as they will be sent, or the sentence that says what is wrong. A record, or pairs of name and value. */
export function outgoingHeaders(
  given: Json | undefined,
  reserved: readonly (string | undefined)[],
): Headers | string {
  const pairs = pairsOf(given);
  if (pairs === null) return 'headers are an object of names and texts, or an array of such pairs.';
  const ours = new Set(reserved.map((name) => name?.toLowerCase()));
  const headers = new Map<string, string>();
  for (const [written, text] of pairs) {
    const name = written.toLowerCase();
    const value = text.trim();
    if (!NAME.test(name)) return 'A header has a name that is not one.';
    if (!isHeaderValue(value))
      return `The header ${name} has a line break, or a character that no header can have.`;
    if (DROPPED.has(name) || DROPPED_FAMILY.test(name) || ours.has(name)) continue;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries([...headers].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pairsOf(given: Json | undefined): readonly (readonly [string, string])[] | null {
  if (given === undefined || given === null) return [];
  const pairs = Array.isArray(given) ? given : isRecord(given) ? Object.entries(given) : null;
  return pairs?.every(isPair) ? pairs : null;
}

const isPair = (pair: unknown): pair is readonly [string, string] =>
  Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string');

const COMES_IN = new Set([
  ...[
    'allow',
    'cache-control',
    'content-language',
    'content-type',
    'etag',
    'last-modified',
    'link',
    'location',
  ],
  ...['retry-after', 'www-authenticate', 'x-request-id'],
]);

/** D3. `clean` takes secrets out of the values. */
export function incomingHeaders(headers: Headers, clean: (text: string) => string): Headers {
  const kept = Object.entries(headers).filter(([name]) => COMES_IN.has(name.toLowerCase()));
  const named = kept.map(([name, value]) => [name.toLowerCase(), clean(value)] as const);
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}
