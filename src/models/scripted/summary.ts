/** What the planner writes when its view is to become smaller: it is no model, so it repeats the entries as they are listed. */

import type { ModelRequest } from '../../core/message.ts';

const MOST = 40;

export function summary({ messages }: ModelRequest): string {
  const asked = messages.at(-1);
  const text = asked?.role === 'user' ? asked.text : '';
  const entries = [...text.matchAll(/^#(\d+) (.+)$/gm)];
  return entries
    .slice(-MOST)
    .map(([, seq, entry = '']) => `fact: ${entry.replaceAll(/[[\]]/g, '').slice(0, 400)} [#${seq}]`)
    .join('\n');
}
