/** A JSON value as lines that a person reads: text as it is meant to be read, JSON inside of text opened. */

import { isRecord, type Json } from './json.ts';

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
  const opened = typeof value === 'string' ? parsed(value) : value;
  if (isRecord(opened)) return Object.entries(opened).flatMap(([key, member]) => named(key, member as Json));
  if (Array.isArray(opened)) return opened.flatMap((member) => dashed(readable(member as Json)));
  return typeof opened === 'string' ? opened.split('\n') : [JSON.stringify(opened)];
}

function named(key: string, value: Json): readonly string[] {
  const lines = readable(value);
  const [first = ''] = lines;
  return lines.length <= 1 && !isRecord(value) ? [`${key}: ${first}`] : [`${key}:`, ...lines.map(indented)];
}

const dashed = ([first = '', ...rest]: readonly string[]): readonly string[] => [
  `- ${first}`,
  ...rest.map(indented),
];

const indented = (line: string): string => `  ${line}`;

/** Only what is plainly JSON: a number or a word that stands as text stays text. */
function parsed(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
