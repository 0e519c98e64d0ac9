/**
 * Verifying: does the log hold its invariants, and does its journal lead to the very heap that stands in the store?
 * Reads only; no effect is run.
 */

import { OutlastError } from '../core/error.ts';
import { fold } from '../core/evolve.ts';
import { headImage } from '../core/heap/state.ts';
import type { SessionId } from '../core/ids.ts';
import type { State } from '../core/state.ts';
import { each, Heaps, optionsOf } from '../loop/heap/heaps.ts';
import { journalOf } from '../loop/heap/journal.ts';
import type { Ports } from '../loop/ports.ts';
import { readEvents } from '../loop/read.ts';
import { checkLog, type Violation } from '../projections/invariant/invariant.ts';

export interface Verification {
  readonly events: number;
  readonly violations: readonly Violation[];
  /** Moves of the heap that were replayed, and how many restores among them. */
  readonly moves: number;
  readonly restores: number;
  /** True when every replayed heap has the digest in the log and the stored image is that heap; null without a heap. */
  readonly identical: boolean | null;
  readonly diverged: { readonly seq: number; readonly expected: string; readonly found: string } | null;
  /** Whether the stored image could be opened and is what the log says. */
  readonly image: 'intact' | 'damaged' | 'none';
  readonly problem: string | null;
}

export async function verify(session: SessionId, ports: Ports): Promise<Verification> {
  const events = await readEvents(ports.store, session);
  const state = fold(events);
  const violations = checkLog(events);
  const journal = journalOf(events);
  const restores = journal.filter((entry) => entry.kind === 'restored').length;
  const base = { events: events.length, violations, moves: journal.length - restores, restores };
  const { chain } = state.heap;
  if (!chain) return { ...base, identical: null, diverged: null, image: 'none', problem: null };

  const expected = headImage(chain).digest;
  const replay = await ports.sandbox.replay(each(journal), optionsOf(state));
  await replay.heap.close();
  const image = await openImage(session, state, chain, ports);
  const identical = !replay.diverged && replay.digest === expected && image.problem === null;
  return { ...base, identical, diverged: replay.diverged, ...image };
}

async function openImage(
  session: SessionId,
  s: State,
  chain: Parameters<Heaps['load']>[2],
  ports: Ports,
): Promise<{ image: 'intact' | 'damaged'; problem: string | null }> {
  try {
    const heap = await ports.sandbox.restore(await new Heaps(ports).load(session, s, chain), optionsOf(s));
    // A new image of it is only made once every page was hashed; who wakes a heap need not wait for that.
    await heap.base().finally(() => heap.close());
    return { image: 'intact', problem: null };
  } catch (error) {
    if (!(error instanceof OutlastError)) throw error;
    return { image: 'damaged', problem: error.message };
  }
}
