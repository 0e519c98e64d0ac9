/** JSON pointers (RFC 6901): `/messages/0/id`; the empty one is the whole document. */

import { isRecord, type Json } from '../../lib/json.ts';

/** The value at the pointer; undefined when there is none. Looks at own members only. */
export function at(document: Json | undefined, pointer: string): Json | undefined {
  return segments(pointer).reduce<Json | undefined>((value, segment) => {
    if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(segment) ? value[Number(segment)] : undefined;
    return isRecord(value) && Object.hasOwn(value, segment) ? (value[segment] as Json) : undefined;
  }, document);
}

/** The decoded steps of a pointer. */
export function segments(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export const isPointer = (text: string): boolean => /^(\/([^~]|~[01])*)?$/.test(text);
