/** The QuickJS sandbox in the calling thread: the same engine and the same protocol, without a worker to wait for. */

import type { LiveHeap, Sandbox } from '../sandbox/port.ts';
import { quickjsSandbox } from '../sandbox/quickjs/sandbox.ts';
import { memoryShelf } from '../sandbox/quickjs/shelf.ts';

export async function inlineSandbox(): Promise<Sandbox> {
  return quickjsSandbox({ mode: 'inline', shelf: memoryShelf() });
}

/** A sandbox for a while: to close it closes what was opened through it, also by those who died before they could. */
export function lent(sandbox: Sandbox): Sandbox {
  const opened: LiveHeap[] = [];
  const noted = <Heap extends LiveHeap>(heap: Heap): Heap => {
    opened.push(heap);
    return heap;
  };
  return {
    ...sandbox,
    engine: sandbox.engine,
    create: async (options) => noted(await sandbox.create(options)),
    restore: async (chain, options) => noted(await sandbox.restore(chain, options)),
    async replay(journal, options) {
      const replay = await sandbox.replay(journal, options);
      noted(replay.heap);
      return replay;
    },
    async close() {
      for (const heap of opened.splice(0)) await heap.close();
    },
  };
}
