/**
 * A heap in the calling thread: the same engine, no clock, no thread, no timer. For the simulator and small tools.
 *
 * O1  A cell is stopped by the amount of its work. What ignores that (the parser of JSON) is not stopped, and deep
 *     recursion meets the thread's own stack first and poisons the engine: use threads for cells of a model.
 */

import { assert } from '../../lib/assert.ts';
import type { HeapChain, HeapStep, OpenOptions } from '../port.ts';
import type { Build } from './build.ts';
import { fuelGuard } from './guard.ts';
import {
  applyToHeap,
  baseImage,
  bootHeap,
  type Heap,
  keepBook,
  type ReplayStep,
  replayOnHeap,
  wakeHeap,
} from './heap.ts';
import type { Replayable } from './replay.ts';

export function createInline(build: Build, options: OpenOptions): Replayable {
  return inlineHeap(bootHeap(build, options), options);
}

export async function restoreInline(
  build: Build,
  chain: HeapChain,
  options: OpenOptions,
): Promise<Replayable> {
  const heap = await wakeHeap(build, chain);
  keepBook(heap);
  return inlineHeap(heap, options);
}

function inlineHeap(opened: Heap, { limits }: OpenOptions): Replayable {
  let heap: Heap | null = opened;
  let signal: AbortSignal | null = null;
  const guard = fuelGuard(limits.cellMs, () => signal);
  const live = (): Heap => {
    assert(heap !== null, 'a heap that was aborted or closed is not used again');
    return heap;
  };
  const keep = <Step extends HeapStep | ReplayStep>(step: Step): Step => {
    if (step.kind === 'aborted') heap = null;
    return step;
  };
  return {
    async apply(input, asked) {
      signal = asked;
      return keep(applyToHeap(live(), input, guard));
    },
    async replay(input) {
      signal = null;
      return keep(replayOnHeap(live(), input, guard));
    },
    base: async () => baseImage(live()),
    async close() {
      heap = null;
    },
  };
}
