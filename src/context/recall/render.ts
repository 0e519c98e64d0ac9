/**
 * What was recalled, as a model and a person read it: each passage under a line that cites it.
 *
 * Q1  A citation is `#41`, the place of the event in the log of this very session, or `#41.2` for a part of it; given
 *     back as an id, it brings the original.
 */

import { oneLine } from '../../lib/text.ts';
import type { Standing } from '../../projections/recall/rules.ts';

export interface Cited {
  /** Q1. */
  readonly id: string;
  readonly seq: number;
  /** What it is; the kind of the event where it says nothing in words. */
  readonly kind: string;
  readonly at: number;
  readonly standing: Standing;
  readonly text: string;
  /** Where that begins in the text of the event. */
  readonly offset: number;
  /** Of the whole text of the event. */
  readonly length: number;
}

export interface Recalled {
  readonly by: 'id' | 'words' | 'time';
  /** Oldest first. */
  readonly passages: readonly Cited[];
  /** How many more there are in a list: older ones, which `offset` skips to. */
  readonly older: number;
  /** How many of a list were skipped. */
  readonly skipped: number;
}

export function inWords({ by, passages, older, skipped }: Recalled): string {
  switch (by) {
    case 'id':
      return passages.map(page).join('\n');
    case 'words':
      return byWords(passages);
    default:
      return byTime(passages, older, skipped);
  }
}

function byWords(passages: readonly Cited[]): string {
  if (passages.length === 0) return 'Nothing in the log of this session has these words. Try others.';
  const group = (title: string, some: readonly Cited[]): readonly string[] =>
    some.length === 0 ? [] : [title, ...some.map((one) => `${headline(one)}\n${one.text}`)];
  return [
    ...group(
      'Rules and wishes of the person, oldest first:',
      passages.filter(({ standing }) => standing !== null),
    ),
    ...group(
      'Passages of the log, oldest first:',
      passages.filter(({ standing }) => standing === null),
    ),
    'recall with such an id gives the whole text of its event.',
  ].join('\n');
}

function byTime(passages: readonly Cited[], older: number, skipped: number): string {
  if (passages.length === 0) return 'The log of this session has nothing of that kind in that time.';
  const lines = passages.map((one) => `${headline(one)}: ${oneLine(one.text, 160)}`);
  return older === 0
    ? lines.join('\n')
    : [`… ${older} older: offset ${skipped + passages.length} …`, ...lines].join('\n');
}

function page({ text, offset, length, ...one }: Cited): string {
  const end = offset + text.length;
  const span = offset === 0 && end === length ? '' : `, characters ${offset} to ${end} of ${length}`;
  const more = end < length ? `\n… ${length - end} more: recall #${one.seq} from offset ${end} …` : '';
  return `${headline(one)}${span}\n${text}${more}`;
}

const headline = ({ id, kind, at }: Pick<Cited, 'id' | 'kind' | 'at'>): string =>
  `${id} ${kind}, ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`;
