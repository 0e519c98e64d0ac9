/**
 * A heap: an engine, and the chain of images that stands for it.
 *
 * Q1  `apply` leaves the heap at rest, with an image of it; or stopped, and then it is gone.
 * Q2  A base is the XOR against the beginning of its build, a delta against the image before. A base is taken when there
 *     is none, when the deltas since have outgrown half of it (and at least 32 KiB), or when there are 64 of them:
 *     opening a heap stays cheap.
 * Q3  `wakeHeap` gives back the heap of the chain, bit for bit, or throws: the digest over the hashes of all its pages
 *     is the committed one. The pages of a large base have their hashes with them (J4) and are hashed again after
 *     waking, before anything moves the heap (`keepBook`, which throws then). Until that is done it rests on three other
 *     checks: the reference and the seal of the stored bytes, which whoever opened them has made, and the checksum of
 *     each piece. So an image that was changed is refused at once, as ever. What is noticed only after is one that was
 *     packed wrongly, and memory that does not keep what is written to it: nothing has been run on it by then.
 * Q4  The copy of memory that the next delta is taken against is made after waking, before anything moves the heap
 *     (`keepBook`): who waits for the heap need not wait for it.
 * Q5  What a heap that wakes has of its build alone is made ahead of the wake (`prepareHeap`), where there is time: an
 *     instance whose memory holds the beginning of the build. It serves one heap.
 */

import { OutlastError } from '../../core/error.ts';
import { assert } from '../../lib/assert.ts';
import { canonical } from '../../lib/json.ts';
import type { HeapChain, HeapInput, HeapStep, OpenOptions, TakenImage } from '../port.ts';
import type { Build } from './build.ts';
import { discard } from './discard.ts';
import { blankInstance, bootEngine, type Engine, type Layout, wakeEngine } from './engine.ts';
import type { Guard } from './guard.ts';
import {
  encodeImage,
  forged,
  type PackedImage,
  type PageSource,
  readImage,
  unpack,
  unpackWhole,
} from './image.ts';
import { type Instance, Stopped } from './instance.ts';
import {
  addPages,
  areAsHashed,
  type Chunks,
  changedPages,
  chunksOf,
  copyHashes,
  copyPages,
  digestOf,
  emptyBook,
  hashPages,
  keepPages,
  notePages,
  PAGE,
  type PageBook,
  takeHashes,
  xorChunks,
} from './pages.ts';
import { parseLastWords, parseSaid } from './wire.ts';

const MIN_DELTA_BYTES = 32 * 1024;
const MAX_DELTAS = 64;

/** An entry of a replay: the heap moved, and only its digest is of interest. */
export type ReplayStep =
  | { readonly kind: 'rest'; readonly digest: string }
  | Extract<HeapStep, { kind: 'aborted' }>;

export interface Heap {
  readonly build: Build;
  readonly engine: Engine;
  readonly book: PageBook;
  /** Pages whose copy is still to be made (Q4), and those that are still to be hashed (Q3); null when all is done. */
  pending: { readonly unkept: ReadonlySet<number>; readonly unproven: readonly number[] } | null;
  /** Of the images since the last base; null before the first. */
  chain: { readonly base: number; readonly deltas: number; readonly deltaBytes: number } | null;
}

export function bootHeap(build: Build, { seed, limits }: OpenOptions): Heap {
  const { heapMb, outputChars } = limits;
  const { module, boot } = build;
  assert(boot !== null, 'new heaps are made of the bundled build');
  try {
    const engine = bootEngine({ module, boot }, { seed, heapMb, outputChars });
    return { build, engine, book: emptyBook(), pending: null, chain: null };
  } catch (cause) {
    if (!(cause instanceof Stopped)) throw cause;
    throw new OutlastError('internal', `A heap of ${heapMb} MB could not be made: ${cause.message}`, {
      cause,
    });
  }
}

/** See Q5. */
export interface Prepared {
  /** Of the build. */
  readonly hash: string;
  readonly instance: Instance;
  readonly book: PageBook;
  /** Pages that are not zero. */
  readonly filled: Set<number>;
}

export function prepareHeap({ hash, module, beginning }: Build): Prepared {
  const instance = blankInstance(module, ((beginning.pages.at(-1) ?? 0) + 1) * PAGE);
  const memory = new Uint8Array(instance.c.memory.buffer);
  const book = emptyBook();
  const filled = new Set<number>();
  addPages(memory, filled, beginning);
  hashPages(book, memory, beginning.pages);
  return { hash, instance, book, filled };
}

export async function wakeHeap(build: Build, chain: HeapChain, ahead?: Prepared): Promise<Heap> {
  const parts = chain.parts.map((part) => readImage(part.data));
  const { layout, memoryBytes } = checkChain(chain, parts);
  const { hash, instance, book, filled } = ahead && fits(ahead, memoryBytes) ? ahead : prepareHeap(build);
  assert(hash === build.hash, 'a heap wakes in the build that it was made with');
  if (memoryBytes < instance.c.memory.buffer.byteLength) throw forged('its memory is shorter than a new one');
  let unproven: readonly number[] = [];
  const engine = await wakeEngine(instance, layout, memoryBytes, async (memory) => {
    unproven = await fill(memory, parts as [PackedImage, ...PackedImage[]], book, filled);
  });
  if (heapDigest({ engine, book }) !== chain.digest) throw forged('its digest is another');
  const [base, ...deltas] = chain.parts.map(({ data }) => data.length) as [number, ...number[]];
  const deltaBytes = deltas.reduce((sum, bytes) => sum + bytes, 0);
  const pending = { unkept: filled, unproven };
  return { build, engine, book, pending, chain: { base, deltas: deltas.length, deltaBytes } };
}

/** It may have been made ready for a larger one, and memory does not shrink. */
const fits = ({ instance }: Prepared, memoryBytes: number): boolean =>
  instance.c.memory.buffer.byteLength <= memoryBytes;

/** Q3, Q4. Throws each time when the heap is not what its digest says. */
export function keepBook(heap: Heap): void {
  if (heap.pending === null) return;
  const { unkept, unproven } = heap.pending;
  const memory = heap.engine.memory();
  if (!areAsHashed(heap.book, memory, unproven)) throw forged('its pages are not what their hashes say');
  keepPages(heap.book, memory, unkept);
  heap.pending = null;
}

/**
 * Writes the images into memory, and the hash of each page into the book; gives the pages whose hash was only read.
 * Pages that the base alone makes are taken as they arrive, while the next are inflated: a page is in the cache then, and
 * the other cores have work.
 */
async function fill(
  memory: Uint8Array,
  [base, ...deltas]: readonly [PackedImage, ...PackedImage[]],
  book: PageBook,
  filled: Set<number>,
): Promise<readonly number[]> {
  const arriving = unpack(base);
  const unproven: number[] = [];
  const later = (await Promise.all(deltas.map(unpackWhole))).flat();
  const unfinished = new Set(later.flatMap(({ pages }) => pages));
  for await (const arrived of arriving) {
    addPages(memory, filled, arrived);
    const finished = arrived.pages.filter((page) => !unfinished.has(page));
    if (arrived.hashes) {
      takeHashes(book, memory, arrived.pages, arrived.hashes);
      unproven.push(...finished);
    } else hashPages(book, memory, finished);
    discard(arrived.content);
  }
  for (const pages of later) addPages(memory, filled, pages);
  hashPages(book, memory, [...unfinished]);
  return unproven;
}

/** Applies one entry and takes an image of where it led. */
export function applyToHeap(heap: Heap, input: HeapInput, guard: Guard, atRest = () => {}): HeapStep {
  return move(heap, input, guard, (said, fuel) => {
    atRest();
    return { kind: 'rest', image: nextImage(heap), ...said, fuel };
  });
}

/** Applies one entry of a journal, whose images exist already. */
export function replayOnHeap(heap: Heap, input: HeapInput, guard: Guard, atRest = () => {}): ReplayStep {
  return move(heap, input, guard, () => {
    atRest();
    heap.chain = null; // The next image has none before it.
    const memory = heap.engine.memory();
    notePages(heap.book, memory, changedPages(heap.book.chunks, memory));
    return { kind: 'rest', digest: heapDigest(heap) };
  });
}

/** A base image of the heap as it stands. */
export function baseImage(heap: Heap): TakenImage {
  keepBook(heap);
  const { pages, content } = heap.build.beginning;
  const image = imageOf(heap, 'base', chunksOf(pages, content));
  heap.chain = { base: image.data.length, deltas: 0, deltaBytes: 0 };
  return image;
}

/** The digest of the heap at the last image or replayed entry. */
export function heapDigest({ engine, book }: Pick<Heap, 'engine' | 'book'>): string {
  return digestOf(book, `${engine.memory().length} ${canonical(engine.layout)}`);
}

function move<Step>(
  heap: Heap,
  input: HeapInput,
  guard: Guard,
  rest: (said: ReturnType<typeof parseSaid>, fuel: number) => Step,
): Step | Extract<HeapStep, { kind: 'aborted' }> {
  keepBook(heap);
  const { engine } = heap;
  const { outputChars } = engine.layout;
  try {
    const { said, fuel } = engine.apply(input, guard);
    return rest(parseSaid(said, outputChars), fuel);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const { reason, message } = error;
    const output = reason === 'poisoned' ? '' : parseLastWords(engine.lastWords(), outputChars);
    return { kind: 'aborted', reason, message, output };
  }
}

function nextImage(heap: Heap): TakenImage {
  const { chain, book } = heap;
  if (
    chain === null ||
    chain.deltas >= MAX_DELTAS ||
    chain.deltaBytes > Math.max(MIN_DELTA_BYTES, chain.base / 2)
  )
    return baseImage(heap);
  const image = imageOf(heap, 'delta', book.chunks);
  const deltaBytes = chain.deltaBytes + image.data.length;
  heap.chain = { ...chain, deltas: chain.deltas + 1, deltaBytes };
  return image;
}

function imageOf(heap: Heap, form: 'base' | 'delta', against: Chunks): TakenImage {
  const { build, engine, book } = heap;
  const memory = engine.memory();
  const pages = changedPages(against, memory);
  const layout = form === 'base' ? engine.layout : null;
  const head = { form, engine: build.hash, memoryBytes: memory.length, layout };
  const content = (some: readonly number[], into: Uint8Array) => {
    copyPages(memory, some, into);
    xorChunks(against, some, into);
  };
  const encoded = (hashes: PageSource['hashes']) => encodeImage(head, pages, { content, hashes });
  let data: Uint8Array;
  if (form === 'delta') {
    data = encoded(null); // It is the XOR against the book as it was.
    notePages(book, memory, pages);
  } else {
    notePages(book, memory, changedPages(book.chunks, memory));
    data = encoded((some, into) => copyHashes(book, some, into));
  }
  const image = { form, engine: build.hash, digest: heapDigest(heap), data };
  return form === 'base' ? { ...image, memoryBytes: memory.length } : image;
}

function checkChain(
  chain: HeapChain,
  parts: readonly PackedImage[],
): { layout: Layout; memoryBytes: number } {
  const [base, ...deltas] = parts;
  const last = parts.at(-1);
  if (!base?.layout || !last || deltas.some(({ form }) => form !== 'delta'))
    throw forged('a chain is one base and its deltas');
  if (parts.some(({ engine }) => engine !== chain.engine)) throw forged('it is of another engine');
  const isGrowing = parts.every((part, i) => part.memoryBytes >= (parts[i - 1]?.memoryBytes ?? 0));
  if (!isGrowing) throw forged('memory does not shrink');
  return { layout: base.layout, memoryBytes: last.memoryBytes };
}
