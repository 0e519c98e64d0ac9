/**
 * Seals the secret fields of a JSON answer, as its rule names them: by name at any depth, or by JSON pointer.
 *
 * F1  All text and numbers at or below a named field become handles; null, true, false and "" stay.
 * F2  Nothing else of the text changes.
 */

import { segments } from './json-pointer.ts';
import { tokens } from './json-tokens.ts';
import type { Handles, Secret } from './secret.ts';

export interface SealedFields {
  readonly text: string;
  readonly secrets: readonly Secret[];
}

/** `text` is valid JSON. */
export function sealFields(text: string, fields: readonly string[], handles: Handles): SealedFields {
  const names = new Set(fields.filter((field) => !field.startsWith('/')));
  const pointers = fields.filter((field) => field.startsWith('/')).map(segments);
  const isSecret = (path: readonly string[]): boolean =>
    path.some((step) => names.has(step)) ||
    pointers.some((steps) => steps.every((step, i) => step === path[i]));

  const sealed = new Map<string, Secret>();
  let out = '';
  let done = 0;
  for (const { start, end, is, path } of tokens(text)) {
    if (is === 'key' || !isSecret(path)) continue;
    const written = text.slice(start, end);
    const value = is === 'string' ? (JSON.parse(written) as string) : written;
    if (value === '' || (is === 'other' && /^(null|true|false)$/.test(value))) continue;
    const secret = sealed.get(value) ?? handles.seal(value);
    sealed.set(value, secret);
    out += text.slice(done, start) + JSON.stringify(secret.handle);
    done = end;
  }
  return { text: out + text.slice(done), secrets: [...sealed.values()] };
}
