/** Children in one line. */

import { oneLine } from '../lib/text.ts';
import { clean } from './terminal.ts';

const SHOWN = 5;

export function childrenInWords(
  children: readonly { readonly id: string; readonly title: string }[],
): string {
  const shown = children.slice(0, SHOWN).map(({ id, title }) => `${id} "${oneLine(clean(title), 40)}"`);
  const more = children.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
