/**
 * Repeats of calls whose key does not stand in the log: `keyed: 'process'` in the table of routes.
 *
 * Each of these changes nothing where it has been done already, but a repeat that comes late can meet a session that
 * moved on (an interrupt would end the next turn). So the answers are remembered here.
 *
 * P1  While this process runs, a repeat under the same key gets the first answer and does nothing.
 * P2  Nothing here is durable, and no one is told that it is: after a restart, or past `KEPT` newer keys, a repeat is
 *     a new call. `start`, `send` and `fork` need more and have it: their keys stand in the log.
 * P3  A call that failed is not remembered: it may be tried again under its key.
 */

import { OutlastError } from '../core/error.ts';

const KEPT = 10_000;

export interface Repeats {
  /** `name` says who calls what under which key, `content` what else decides the outcome. */
  once<Answer>(name: string, content: string, call: () => Promise<Answer>): Promise<Answer>;
}

export function repeats(kept = KEPT): Repeats {
  const known = new Map<string, { readonly content: string; readonly answer: Promise<unknown> }>();
  return {
    once<Answer>(name: string, content: string, call: () => Promise<Answer>): Promise<Answer> {
      const first = known.get(name);
      if (first && first.content !== content) {
        throw new OutlastError('key.conflict', 'The key was used before with another body.', {
          next: 'use a new key for a new call',
        });
      }
      if (first) return first.answer as Promise<Answer>;
      const answer = call();
      known.set(name, { content, answer });
      answer.catch(() => known.delete(name));
      const oldest = known.size > kept ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      return answer;
    },
  };
}
