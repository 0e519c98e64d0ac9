/** What the model is told about the granted services. Same grants, same text: it stands in the system prompt. */

import { oneLine } from '../../lib/text.ts';
import type { Grant } from './grant.ts';

const DESCRIBE_MAX = 300;

/** Empty when nothing is granted. */
export function briefingOf(grants: readonly Grant[]): string {
  if (grants.length === 0) return '';
  const lines = grants.map(({ name, origin, describe = '' }) => {
    const about = oneLine(describe, DESCRIBE_MAX);
    return `- ${name} at ${origin}${about === '' ? '' : `: ${about}`}`;
  });
  return ['Granted services:', ...lines].join('\n');
}
