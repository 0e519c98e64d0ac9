/**
 * Threads for heaps. One is kept warm, since starting a thread takes longer than all the rest of opening a heap.
 *
 * E1  A thread serves one heap and then ends: the heap's memory goes back with it.
 * E2  Idle threads keep no process alive.
 * E3  A warm thread has an engine of the build that was last named, for a heap that wakes.
 * E4  However many heaps are opened one after the other, the next thread is not put off by them: where one was wanted
 *     and not there, it is started as soon as that heap is open.
 */

import { Worker } from 'node:worker_threads';
import type { Build } from '../build.ts';
import { threadEntry } from './entry.ts';
import { type Notice, SHARED } from './messages.ts';

/** A first cell is over by then; starting a thread beside it would cost it as much again. */
const SOON_MS = 300;
/** See Z1 of worker.ts. */
const STACK_MB = 32;

export interface Thread {
  readonly worker: Worker;
  readonly shared: Int32Array;
}

export interface Pool {
  /** A thread of one's own. */
  take(): Thread;
  /** Makes a thread ready for the next heap, unless there is one. */
  warm(): void;
  /** The same in a moment: a heap that was just opened wants the cores for itself first. */
  warmSoon(): void;
  /** Warm threads prepare for heaps of this build from now on. */
  expect(build: Build): void;
  /** The next heap to wake has at least so much memory: the warm thread takes it now, while others fetch the image. */
  foresee(memoryBytes: number): void;
  close(): Promise<void>;
}

export function threadPool(): Pool {
  let entry: URL | null = null;
  let spare: Thread | null = null;
  let expected: Build | null = null;
  let isClosed = false;
  /** The last heap found no warm thread. */
  let isBehind = false;
  let soon: NodeJS.Timeout | undefined;

  const start = (): Thread => {
    entry ??= threadEntry();
    const shared = new Int32Array(new SharedArrayBuffer(Object.keys(SHARED).length * 4));
    const resourceLimits = { stackSizeMb: STACK_MB };
    const worker = new Worker(entry, { workerData: { shared }, resourceLimits, execArgv: [], env: {} });
    worker.unref();
    return { worker, shared };
  };
  const drop = async (thread: Thread | null) => void (await thread?.worker.terminate());

  const warm = () => {
    if (spare !== null || isClosed) return;
    const thread = start();
    spare = thread;
    // A spare that breaks is not there when it is wanted; the one started then says why.
    const forget = () => {
      if (spare === thread) spare = null;
    };
    thread.worker.once('error', forget).once('exit', forget);
    if (expected) prepare(thread, expected);
  };
  const prepare = ({ worker }: Thread, build: Build) =>
    worker.postMessage({ prepare: build } satisfies Notice);

  return {
    warm,
    warmSoon() {
      if (isBehind) return warm();
      soon ??= setTimeout(() => {
        soon = undefined;
        warm();
      }, SOON_MS).unref();
    },
    expect(build) {
      if (expected?.hash === build.hash) return;
      expected = build;
      if (spare) prepare(spare, build);
    },
    foresee(memoryBytes) {
      spare?.worker.postMessage({ foresee: memoryBytes } satisfies Notice);
    },
    take() {
      isBehind = spare === null;
      const thread = spare ?? start();
      spare = null;
      return thread;
    },
    async close() {
      isClosed = true;
      clearTimeout(soon);
      const thread = spare;
      spare = null;
      await drop(thread);
    },
  };
}
