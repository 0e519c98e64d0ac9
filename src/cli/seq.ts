/** The number of an event, as somebody wrote it. */

import { UsageError } from './exit.ts';

export function seqOf(what: string, written: string): number {
  const seq = Number(written);
  if (Number.isSafeInteger(seq) && seq > 0) return seq;
  throw new UsageError(`${what} takes the number of an event.`, 'use one that outlast follow --json shows');
}
