/**
 * Reading the answer of a service that was asked for our reference.
 *
 * K1  "Found" needs a record, and ours where the rule says how to tell. "Absent" needs the service to say so: an
 *     empty list, null, false, or a 404 where the rule takes that as an answer. Anything else is no answer.
 */

import { type Json, parseJson } from '../../lib/json.ts';
import type { FetchResult } from './answer.ts';
import type { Ask } from './grant.ts';
import { at } from './json-pointer.ts';

export type Asked =
  /** Our records, at least one. */
  | { readonly status: 'found'; readonly records: readonly Json[] }
  | { readonly status: 'absent' }
  | { readonly status: 'unclear'; readonly reason: string };

/** The address to ask at. */
export const askUrl = (ask: Ask, origin: string, reference: string): string =>
  `${origin}${ask.path.replaceAll('{reference}', encodeURIComponent(reference))}`;

export function readAsked(ask: Ask, { status, body, truncated }: FetchResult, reference: string): Asked {
  if (status === 404 && ask.notFound === 'absent') return { status: 'absent' };
  if (status !== 200) return unclear(`it answered ${status}`);
  const answer = truncated ? undefined : parseJson(body);
  if (answer === undefined) return unclear('its answer is no JSON, or too long');
  const found = at(answer, ask.found);
  if (found === undefined) return unclear(`its answer has nothing at ${ask.found || 'its root'}`);
  if (found === null || found === false) return { status: 'absent' };
  const records = Array.isArray(found) ? (found as readonly Json[]) : [found];
  if (records.length === 0) return { status: 'absent' };
  const ours = records.filter((record) => isOurs(ask, record, reference));
  return ours.length === 0
    ? unclear('it named records of other references')
    : { status: 'found', records: ours };
}

/** What counts as the answer in a record. */
export const resultIn = (ask: Ask, record: Json | undefined): Json | undefined =>
  record === undefined ? undefined : at(record, ask.result ?? '');

const isOurs = (ask: Ask, record: Json, reference: string): boolean =>
  ask.reference === undefined || at(record, ask.reference) === reference;

const unclear = (reason: string): Asked => ({ status: 'unclear', reason });
