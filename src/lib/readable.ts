/** A JSON value as lines that a person reads: text as it is meant to be read, JSON inside of text opened. */

import { isRecord, type Json, parseJson } from './json.ts';

/**
 * @example
 * ```ts
 * readable({ url: 'http://x/', body: '{"to":"ada","text":"Hello\\nAda"}' });
 * // url: http://x/
 * // body:
 * //   to: ada
 * //   text:
 * //     Hello
 * //     Ada
 * ```
 */
export function readable(value: Json): readonly string[] {
  const opened = open(value);
  if (isRecord(opened)) return Object.entries(opened).flatMap(([key, member]) => named(key, member as Json));
  if (Array.isArray(opened)) return opened.flatMap((member) => dashed(readable(member as Json)));
  return typeof opened === 'string' ? opened.split('\n') : [JSON.stringify(opened)];
}

function named(key: string, value: Json): readonly string[] {
  const opened = open(value);
  const lines = readable(opened);
  const isNested = lines.length > 1 || (typeof opened === 'object' && opened !== null);
  return isNested ? [`${key}:`, ...lines.map(indented)] : [`${key}: ${lines[0]}`];
}

const dashed = ([first = '', ...rest]: readonly string[]): readonly string[] => [
  `- ${first}`,
  ...rest.map(indented),
];

const indented = (line: string): string => `  ${line}`;

/** Only what is plainly JSON: a number or a word that stands as text stays text. */
function open(value: Json): Json {
  return typeof value === 'string' && /^\s*[[{]/.test(value) ? (parseJson(value) ?? value) : value;
}
