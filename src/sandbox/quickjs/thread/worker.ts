/**
 * The thread of one heap. Started by `remote-heap.ts`; holds the engine, so that a cell that loops delays nobody.
 *
 * Z1  The stack of the thread (32 MiB, given by the owner) is what lets the engine's own limit be met first: deep
 *     recursion is then an error in the guest and no broken engine.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { OutlastError } from '../../../core/error.ts';
import { assert, unreachable } from '../../../lib/assert.ts';
import type { Build } from '../build.ts';
import { touchMemory } from '../engine.ts';
import { clockGuard, type Guard } from '../guard.ts';
import {
  applyToHeap,
  baseImage,
  bootHeap,
  type Heap,
  keepBook,
  type Prepared,
  prepareHeap,
  replayOnHeap,
  wakeHeap,
} from '../heap.ts';
import { rehearse } from '../image.ts';
import { type Answer, type Notice, PHASE, REPLAY_PATIENCE, type Request, SHARED } from './messages.ts';

const { shared } = workerData as { shared: Int32Array };

let prepared: Prepared | null = null;
let heap: Heap | null = null;
let cellMs = 0;

/** Until a heap that has woken is copied and hashed: by then its owner has asked the model, and waits for that. */
const KEEP_MS = 50;

async function answer(request: Request): Promise<Answer> {
  switch (request.ask) {
    case 'create':
      prepared = null;
      heap = bootHeap(request.build, request.options);
      ({ cellMs } = request.options.limits);
      return { say: 'opened' };
    case 'restore':
      heap = await wakeHeap(request.build, request.chain, takePrepared(request.build));
      ({ cellMs } = request.options.limits);
      return { say: 'opened' };
    case 'apply':
      return { say: 'applied', step: applyToHeap(live(), request.input, guard(cellMs), atRest) };
    case 'replay':
      return {
        say: 'replayed',
        step: replayOnHeap(live(), request.input, guard(cellMs * REPLAY_PATIENCE), atRest),
      };
    case 'base':
      return { say: 'based', image: baseImage(live()) };
    default:
      return unreachable(request);
  }
}

async function prepare(build: Build): Promise<void> {
  try {
    prepared = prepareHeap(build);
    await rehearse();
  } catch {
    prepared = null; // Whoever restores a heap here is told why.
  }
}

/** Memory that is there before its content costs nobody a wait: each page of it that is touched for the first time does. */
function foresee(memoryBytes: number): void {
  try {
    if (prepared) touchMemory(prepared.instance, memoryBytes);
  } catch {
    prepared = null; // Whoever restores a heap here is told why.
  }
}

/** What was prepared, when it is for this build. */
function takePrepared({ hash }: Build): Prepared | undefined {
  const taken = prepared?.hash === hash ? prepared : undefined;
  prepared = null;
  return taken;
}

function live(): Heap {
  assert(heap !== null, 'a heap is opened before it is used');
  return heap;
}

/** Once the owner has committed that the heap is back, and the cores are free; a cell that comes first does it itself. */
function keep(woken: Heap): void {
  try {
    keepBook(woken);
  } catch {
    // Whoever moves the heap is told.
  }
}

/** A guard that also tells the owner that the guest runs now. */
function guard(limitMs: number): Guard {
  const isInterrupted = () => Atomics.load(shared, SHARED.interrupt) === 1;
  const clock = clockGuard(limitMs, () => performance.now(), isInterrupted);
  const begin = () => {
    Atomics.store(shared, SHARED.phase, PHASE.running);
    clock.begin();
  };
  return { ...clock, begin };
}

function atRest(): void {
  Atomics.store(shared, SHARED.phase, PHASE.atRest);
}

function failed(error: unknown): Answer {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof OutlastError)) return { say: 'failed', code: null, message, next: '' };
  return { say: 'failed', code: error.code, message, next: error.next };
}

/** Image bytes are handed over, not copied. */
function transferable(said: Answer): ArrayBuffer[] {
  const image =
    said.say === 'based'
      ? said.image
      : said.say === 'applied' && said.step.kind === 'rest'
        ? said.step.image
        : null;
  const isWhole = image !== null && image.data.byteLength === image.data.buffer.byteLength;
  return isWhole ? [image.data.buffer as ArrayBuffer] : [];
}

parentPort?.on('message', async (request: Request | Notice) => {
  if ('prepare' in request) return prepare(request.prepare);
  if ('foresee' in request) return foresee(request.foresee);
  const said = await answer(request).catch(failed);
  Atomics.store(shared, SHARED.phase, PHASE.waiting);
  parentPort?.postMessage(said, transferable(said));
  if (request.ask === 'restore' && heap) setTimeout(keep, KEEP_MS, heap);
});
