/**
 * A heap in a thread of its own, seen from outside.
 *
 * Y1  A guest that does not stop when asked is ended with its thread: `aborted` comes within a second of the limit.
 * Y2  A thread that only packs its image is never ended for lack of time.
 * Y3  After `aborted`, or when the thread is lost, the heap is gone and every later call says so.
 */

import { type ErrorCode, OutlastError } from '../../../core/error.ts';
import type { AbortReason } from '../../../core/heap/event.ts';
import { assert } from '../../../lib/assert.ts';
import type { HeapChain, HeapStep, OpenOptions } from '../../port.ts';
import type { Build } from '../build.ts';
import type { ReplayStep } from '../heap.ts';
import type { Replayable } from '../replay.ts';
import { type Answer, PHASE, REPLAY_PATIENCE, type Request, SHARED } from './messages.ts';
import type { Pool, Thread } from './pool.ts';

/** Time that the engine has to notice that it must stop; it looks every 10,000 operations. */
const GRACE_MS = 500;
/** How often a thread that is past its time is looked at. */
const LOOK_MS = 50;

type Aborted = Extract<HeapStep, { kind: 'aborted' }>;

export function createRemote(pool: Pool, build: Build, options: OpenOptions): Promise<Replayable> {
  return open(pool, { ask: 'create', build, options });
}

export function restoreRemote(
  pool: Pool,
  build: Build,
  chain: HeapChain,
  options: OpenOptions,
): Promise<Replayable> {
  return open(pool, { ask: 'restore', build, chain, options });
}

type Opening = Extract<Request, { ask: 'create' | 'restore' }>;

async function open(pool: Pool, request: Opening): Promise<Replayable> {
  const line = lineTo(pool.take());
  try {
    const opened = await line.ask(request, request.ask === 'restore' ? handedOver(request.chain) : []);
    assert(opened.say === 'opened', 'a thread answers what it was asked');
  } catch (cause) {
    await line.end();
    if (!(cause instanceof ThreadEnded)) throw cause;
    throw new OutlastError('internal', 'The thread of the sandbox did not start.', { cause });
  }
  pool.warmSoon();
  return remoteHeap(line, request.options.limits.cellMs);
}

/** The bytes of the images go to the thread without a copy. */
function handedOver({ parts }: HeapChain): ArrayBuffer[] {
  return parts.flatMap(({ data: { buffer, byteLength } }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [],
  );
}

function remoteHeap(line: Line, cellMs: number): Replayable {
  const move = async <Step extends { kind: string }>(
    request: Request,
    limitMs: number,
    signal: AbortSignal,
    read: (said: Answer) => Step,
  ): Promise<Step | Aborted> => {
    const step = await watched(line, limitMs, signal, async () => read(await line.ask(request)));
    if (step.kind === 'aborted') await line.end();
    return step;
  };
  return {
    apply: (input, signal) =>
      move({ ask: 'apply', input }, cellMs, signal, (said): HeapStep => {
        assert(said.say === 'applied', 'a thread answers what it was asked');
        return said.step;
      }),
    replay: (input) =>
      move({ ask: 'replay', input }, cellMs * REPLAY_PATIENCE, NEVER, (said): ReplayStep => {
        assert(said.say === 'replayed', 'a thread answers what it was asked');
        return said.step;
      }),
    async base() {
      const said = await line.ask({ ask: 'base' });
      assert(said.say === 'based', 'a thread answers what it was asked');
      return said.image;
    },
    close: () => line.end(),
  };
}

const NEVER = new AbortController().signal;

/** Runs `work` and ends the thread when the guest in it is past its limit or the signal, and past the grace. */
async function watched<Step>(
  line: Line,
  limitMs: number,
  signal: AbortSignal,
  work: () => Promise<Step>,
): Promise<Step | Aborted> {
  line.calm();
  let killed: AbortReason | null = null;
  let timer = setTimeout(look, limitMs + GRACE_MS, 'time');
  function look(reason: AbortReason): void {
    if (line.isRunning()) {
      killed = reason;
      void line.end();
    } else timer = setTimeout(look, LOOK_MS, reason);
  }
  const interrupt = () => {
    line.interrupt();
    clearTimeout(timer);
    timer = setTimeout(look, GRACE_MS, 'interrupted');
  };
  signal.addEventListener('abort', interrupt, { once: true });
  if (signal.aborted) interrupt();
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ThreadEnded)) throw error;
    const reason = killed ?? 'lost';
    return {
      kind: 'aborted',
      reason,
      message: killed ? 'the thread had to be ended' : error.message,
      output: '',
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', interrupt);
  }
}

class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';
}

/** The line to a thread: one question at a time. */
interface Line {
  ask(request: Request, transfer?: readonly ArrayBuffer[]): Promise<Answer>;
  isRunning(): boolean;
  interrupt(): void;
  /** Takes an interrupt back that came when nothing ran any more. */
  calm(): void;
  end(): Promise<void>;
}

function lineTo({ worker, shared }: Thread): Line {
  let waiting: { resolve(said: Answer): void; reject(error: Error): void } | null = null;
  let ended: ThreadEnded | null = null;
  const finish = (settle: (open: NonNullable<typeof waiting>) => void) => {
    const open = waiting;
    waiting = null;
    worker.unref();
    if (open) settle(open);
  };
  const lose = (why: string) => {
    ended ??= new ThreadEnded(why);
    const error = ended;
    finish((open) => open.reject(error));
  };
  worker.on('message', (said: Answer) => {
    if (said.say === 'failed') finish((open) => open.reject(errorOf(said)));
    else finish((open) => open.resolve(said));
  });
  worker.on('error', (error) => lose(`the thread of the heap broke: ${error.message}`));
  worker.on('exit', () => lose('the thread of the heap ended'));
  return {
    ask(request, transfer = []) {
      if (ended) return Promise.reject(ended);
      assert(waiting === null, 'one call at a time');
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        worker.ref();
        worker.postMessage(request, transfer);
      });
    },
    isRunning: () => Atomics.load(shared, SHARED.phase) === PHASE.running,
    interrupt: () => void Atomics.store(shared, SHARED.interrupt, 1),
    calm: () => void Atomics.store(shared, SHARED.interrupt, 0),
    async end() {
      await worker.terminate();
    },
  };
}

function errorOf({ code, message, next }: Extract<Answer, { say: 'failed' }>): Error {
  return code === null
    ? new OutlastError('internal', `The sandbox failed: ${message}`)
    : new OutlastError(code as ErrorCode, message, { next });
}
