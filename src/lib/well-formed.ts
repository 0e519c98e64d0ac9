/** Text that every strict UTF-8 and JSON reader takes: half a surrogate pair becomes U+FFFD. */

import { isRecord, type Json } from './json.ts';

/** In a pattern with the flag `u`, a surrogate is one that stands alone. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');

export function wellFormedJson(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [wellFormed(key), wellFormedJson(member as Json)]),
  );
}
