/**
 * The proof that an image is a cache of the journal: run the journal from nothing and compare.
 *
 * P1  A restore changes no byte of a heap (G1 of engine.ts), so a `restored` entry is nothing to do. Had the live heap
 *     been changed by one, the digests after it would differ, and the replay would say so.
 * P2  The replay stops at the first difference; the heap it hands back is the one it found there.
 */

import type { HeapInput, JournalEntry, LiveHeap, ReplayResult } from '../port.ts';
import type { ReplayStep } from './heap.ts';

/** A live heap that can also go through a journal whose images exist already. */
export interface Replayable extends LiveHeap {
  replay(input: HeapInput): Promise<ReplayStep>;
}

export async function replayJournal(
  heap: Replayable,
  journal: AsyncIterable<JournalEntry>,
): Promise<ReplayResult> {
  let applied = 0;
  let digest = '';
  for await (const entry of journal) {
    if (entry.kind === 'restored') continue;
    const step = await heap.replay(entry.input);
    const found = step.kind === 'rest' ? step.digest : `stopped: ${step.reason}`;
    if (found !== entry.digest) {
      const diverged = { seq: entry.seq, expected: entry.digest, found };
      return { heap, applied, diverged, digest };
    }
    applied++;
    digest = found;
  }
  return { heap, applied, diverged: null, digest };
}
