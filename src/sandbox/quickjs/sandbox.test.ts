import { sandboxSuite } from '../suite.ts';
import { quickjsSandbox } from './sandbox.ts';
import { memoryShelf } from './shelf.ts';

for (const mode of ['thread', 'inline'] as const) {
  sandboxSuite({
    name: `quickjs ${mode}`,
    async open() {
      const shelf = memoryShelf();
      const sandboxes = [quickjsSandbox({ mode, shelf })];
      const [sandbox] = sandboxes as [ReturnType<typeof quickjsSandbox>];
      return {
        sandbox,
        async again() {
          const next = quickjsSandbox({ mode, shelf });
          sandboxes.push(next);
          return next;
        },
        dispose: async () => void (await Promise.all(sandboxes.map((each) => each.close()))),
      };
    },
    skips:
      mode === 'thread'
        ? {}
        : {
            interrupt: 'nobody can abort while the only thread runs the guest',
            hardStop: 'what looks at no limit cannot be ended in the calling thread',
            recursion: 'the stack of the calling thread is smaller than that of the engine',
          },
  });
}
