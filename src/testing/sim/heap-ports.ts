/** Heaps are ports too: each move of a heap is a boundary of the life that has it. */

import type { Sandbox } from '../../sandbox/port.ts';
import type { Life } from './life.ts';

export function heapPorts(life: Life, sandbox: Sandbox, options?: { readonly real: boolean }): Sandbox {
  const port = life.port('sandbox', sandbox, options);
  return {
    engine: sandbox.engine,
    prepare: (source) => sandbox.prepare(source),
    create: async (o) => life.port('heap', await port.create(o), options),
    restore: async (chain, o) => life.port('heap', await port.restore(chain, o), options),
    replay: async (journal, o) => {
      const result = await port.replay(journal, o);
      return { ...result, heap: life.port('heap', result.heap, options) };
    },
    // The next life uses it, too.
    close: async () => {},
  };
}
