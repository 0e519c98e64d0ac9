import { afterAll } from 'vitest';
import { sandboxSuite } from '../suite.ts';
import { quickjsSandbox } from './sandbox.ts';
import { memoryShelf } from './shelf.ts';

const SKIPS = {
  interrupt: 'nobody can abort while the only thread runs the guest',
  hardStop: 'what looks at no limit cannot be ended in the calling thread',
  recursion: 'the stack of the calling thread is smaller than that of the engine',
};

for (const mode of ['thread', 'inline'] as const) {
  const shelf = memoryShelf();
  const sandbox = quickjsSandbox({ mode, shelf });
  const another = quickjsSandbox({ mode, shelf });
  afterAll(async () => {
    await sandbox.close();
    await another.close();
  });
  sandboxSuite({
    name: `quickjs ${mode}`,
    open: async () => ({ sandbox, again: async () => another, dispose: async () => {} }),
    skips: mode === 'inline' ? SKIPS : {},
  });
}
