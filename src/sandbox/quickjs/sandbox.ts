/**
 * The default sandbox: JavaScript in QuickJS in WebAssembly, whose heap is kept page by page.
 *
 * S1  New heaps get the bundled build; a heap from an image gets the build it was made with, from the shelf.
 * S2  The bundled build stands on the shelf before the first heap of it is made.
 * S3  The limits of memory and output are the heap's own, from when it was made; the limit of time is that of opening.
 * S4  A heap is opened with the build on the shelf where there is one: that costs a tenth of making the bundled build,
 *     which a process needs for its first new heap only.
 * S5  In threads, the build that was last put on the shelf is opened when the process starts: a heap that wakes finds it
 *     open, with an instance of it in a warm thread.
 */

import type { HeapChain, LiveHeap, OpenOptions, Sandbox } from '../port.ts';
import { type Build, bundledBuild, makeBuild, missingBuild, openBuild, type Packed } from './build.ts';
import { createInline, restoreInline } from './inline.ts';
import { type Replayable, replayJournal } from './replay.ts';
import type { EngineShelf } from './shelf.ts';
import { threadPool } from './thread/pool.ts';
import { createRemote, restoreRemote } from './thread/remote-heap.ts';
import { prepare } from './transform.ts';

export { directoryShelf, type EngineShelf, memoryShelf } from './shelf.ts';

export interface QuickjsOptions {
  /** `thread`: each heap has a thread, and limits that hold. `inline`: no thread and no clock, for the simulator. */
  readonly mode: 'thread' | 'inline';
  /** Where the engine builds are that images need. */
  readonly shelf: EngineShelf;
  /** Another engine module than the bundled one. */
  readonly wasm?: Uint8Array;
}

/**
 * The QuickJS sandbox.
 *
 * @example
 * ```ts
 * const sandbox = quickjsSandbox({ mode: 'thread', shelf: directoryShelf('data/engines') });
 * const heap = await sandbox.create({ seed: 1, limits: DEFAULT_LIMITS });
 * ```
 */
export function quickjsSandbox({ mode, shelf, wasm }: QuickjsOptions): Sandbox {
  const builds = shelvedBuilds(shelf, wasm);
  const opener = mode === 'thread' ? threadOpener(builds) : inlineOpener;
  const open = new Set<LiveHeap>();
  const create = async (options: OpenOptions) =>
    keep(await opener.create(await builds.bundled(), options), open);
  return {
    get engine() {
      return builds.hash();
    },
    prepare,
    foresee: (memoryBytes) => opener.foresee(memoryBytes),
    create,
    async restore(chain, options) {
      return keep(await opener.restore(await builds.get(chain.engine), chain, options), open);
    },
    async replay(journal, options) {
      const heap = await create(options);
      try {
        return await replayJournal(heap, journal);
      } catch (error) {
        await heap.close();
        throw error;
      }
    },
    async close() {
      await Promise.all([...open].map((heap) => heap.close()));
      await opener.close();
    },
  };
}

interface Opener {
  foresee(memoryBytes: number): void;
  create(build: Build, options: OpenOptions): Promise<Replayable>;
  restore(build: Build, chain: HeapChain, options: OpenOptions): Promise<Replayable>;
  close(): Promise<void>;
}

const inlineOpener: Opener = {
  foresee: () => {},
  create: async (build, options) => createInline(build, options),
  restore: async (build, chain, options) => restoreInline(build, chain, options),
  close: async () => {},
};

function threadOpener(builds: Builds): Opener {
  const pool = threadPool();
  // While the store is opened: the first heap need not wait for it.
  pool.warm();
  builds.newest().then(
    (build) => build && pool.expect(build),
    () => {}, // Whoever needs a build is told what is wrong with the shelf.
  );
  return {
    foresee: (memoryBytes) => pool.foresee(memoryBytes),
    create: (build, options) => createRemote(pool, build, options),
    restore(build, chain, options) {
      pool.expect(build);
      return restoreRemote(pool, build, chain, options);
    },
    close: () => pool.close(),
  };
}

/** Remembers a heap until it is closed, so that closing the sandbox closes it. */
function keep(heap: Replayable, open: Set<LiveHeap>): Replayable {
  const kept: Replayable = {
    ...heap,
    async close() {
      open.delete(kept);
      await heap.close();
    },
  };
  open.add(kept);
  return kept;
}

type Builds = ReturnType<typeof shelvedBuilds>;

/** The builds in use, compiled once. */
function shelvedBuilds(shelf: EngineShelf, wasm: Uint8Array | undefined) {
  let made: Packed | null = null;
  let kept: Promise<void> | null = null;
  const opened = new Map<string, Promise<Build>>();
  const bundled = (): Packed => {
    made ??= wasm ? makeBuild(wasm) : bundledBuild();
    return made;
  };
  const open = async (hash: string): Promise<Build> => {
    const packed = await shelf.get(hash);
    if (packed === null && hash === bundled().build.hash) return bundled().build;
    if (packed === null) throw missingBuild(hash);
    return openBuild(packed, hash);
  };
  const get = async (hash: string): Promise<Build> => {
    if (made?.build.hash === hash) return made.build;
    const opening = opened.get(hash) ?? open(hash);
    opened.set(hash, opening);
    opening.catch(() => opened.delete(hash)); // It may be put there later.
    return opening;
  };
  return {
    hash: () => bundled().build.hash,
    get,
    /** S5. */
    async newest(): Promise<Build | null> {
      const hash = await shelf.newest();
      return hash === null ? null : get(hash);
    },
    async bundled(): Promise<Build> {
      kept ??= shelf.keep(bundled().packed);
      await kept;
      return bundled().build;
    },
  };
}
