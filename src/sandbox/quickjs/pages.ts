/**
 * The memory of a heap in pages: what has changed since the last image, and the digest over all of it.
 *
 * F1  `digest` says the same for equal memories, however they came about: a page of zeros has a hash of its own, whether
 *     it was ever written or not.
 * F2  The work of a step is linear in the pages that changed, plus one comparison of memory.
 */

import { createHash, hash } from 'node:crypto';
import { lanes, MOST_BYTES, rowAt } from './lanes.ts';
import { fromPlanes } from './planes.ts';

export const PAGE = 4096;
const CHUNK = 65536;
const PER_CHUNK = CHUNK / PAGE;
/** Bytes of SHA-256 kept of each page. */
export const HASH = 16;

const ZERO = Buffer.alloc(CHUNK);

/** A copy of memory in pieces of 64 KiB; one that is all zero is null or not there, and takes no room. */
export type Chunks = readonly (Buffer | null | undefined)[];

/** Memory as it stood at the last image, with a hash of each page. */
export interface PageBook {
  readonly chunks: (Buffer | null)[];
  hashes: Buffer;
}

/** Some pages, ascending. */
export interface SomePages {
  readonly pages: readonly number[];
  /** What belongs to them, one after the other. */
  readonly content: Uint8Array;
  /** Whether the content stands in planes. */
  readonly isPlaned?: boolean;
}

export const emptyBook = (): PageBook => ({ chunks: [], hashes: Buffer.alloc(0) });

/** The chunks of a memory of which only some pages are given, one after the other. */
export function chunksOf(pages: readonly number[], content: Uint8Array): Chunks {
  const chunks: (Buffer | null)[] = [];
  for (const [i, page] of pages.entries())
    chunkOf(chunks, page).set(content.subarray(i * PAGE, i * PAGE + PAGE), (page % PER_CHUNK) * PAGE);
  return chunks;
}

function chunkOf(chunks: (Buffer | null)[], page: number): Buffer {
  const at = Math.floor(page / PER_CHUNK);
  const chunk = chunks[at] ?? Buffer.alloc(CHUNK);
  chunks[at] = chunk;
  return chunk;
}

/** The pages of memory that differ, by number. */
export function changedPages(chunks: Chunks, memory: Uint8Array): number[] {
  const now = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  const changed: number[] = [];
  for (let chunk = 0; chunk * CHUNK < now.length; chunk++) {
    const from = chunk * CHUNK;
    const before = chunks[chunk] ?? ZERO;
    if (now.compare(before, 0, CHUNK, from, from + CHUNK) === 0) continue;
    for (let page = 0; page < PER_CHUNK; page++) {
      const at = page * PAGE;
      if (now.compare(before, at, at + PAGE, from + at, from + at + PAGE) !== 0)
        changed.push(chunk * PER_CHUNK + page);
    }
  }
  return changed;
}

/** The pages that are not all zero. */
export function filledPages(memory: Uint8Array): number[] {
  return changedPages([], memory);
}

/** The named pages one after the other. */
export function copyPages(memory: Uint8Array, pages: readonly number[], into: Uint8Array): void {
  for (const [i, page] of pages.entries())
    into.set(memory.subarray(page * PAGE, page * PAGE + PAGE), i * PAGE);
}

/** Takes out of `into`, which holds the named pages, what was there before: what is left is what changed. */
export function xorChunks(chunks: Chunks, pages: readonly number[], into: Uint8Array): void {
  for (const [i, page] of pages.entries()) {
    const chunk = chunks[Math.floor(page / PER_CHUNK)];
    const at = (page % PER_CHUNK) * PAGE;
    if (chunk) xor(into, i * PAGE, chunk.subarray(at, at + PAGE));
  }
}

/**
 * Adds pages to those of memory with the same numbers. `filled` names the pages that are not zero so far, and learns of
 * these: most pages of a large base are new, and those are written at once.
 */
export function addPages(
  memory: Uint8Array,
  filled: Set<number>,
  { pages, content, isPlaned = false }: SomePages,
): void {
  const write = (from: number, bytes: number, into: Uint8Array, at: number) => {
    if (isPlaned) fromPlanes(content, from, bytes, into, at);
    else into.set(content.subarray(from, from + bytes), at);
  };
  for (let i = 0; i < pages.length; ) {
    // A run of pages at once.
    const start = i;
    const page = pages[start] as number;
    const isFilled = filled.has(page);
    while (pages[i] === page + i - start && filled.has(pages[i] as number) === isFilled) i++;
    const bytes = (i - start) * PAGE;
    if (isFilled) {
      const added = new Uint8Array(bytes);
      write(start * PAGE, bytes, added, 0);
      xor(memory, page * PAGE, added);
    } else {
      write(start * PAGE, bytes, memory, page * PAGE);
      for (let one = start; one < i; one++) filled.add(pages[one] as number);
    }
  }
}

/** Takes the named pages of memory over into the book. */
export function notePages(book: PageBook, memory: Uint8Array, pages: readonly number[]): void {
  for (const page of pages) {
    const content = memory.subarray(page * PAGE, page * PAGE + PAGE);
    chunkOf(book.chunks, page).set(content, (page % PER_CHUNK) * PAGE);
  }
  hashPages(book, memory, pages);
}

/** Takes over all of memory that is not zero, 64 KiB at a time. The hashes stand already. */
export function keepPages(book: PageBook, memory: Uint8Array, pages: Iterable<number>): void {
  for (const page of pages) {
    const chunk = Math.floor(page / PER_CHUNK);
    book.chunks[chunk] ??= Buffer.from(memory.subarray(chunk * CHUNK, chunk * CHUNK + CHUNK));
  }
}

/** Writes the hashes of the named pages of memory into the book. */
export function hashPages(
  book: Pick<PageBook, 'hashes'>,
  memory: Uint8Array,
  pages: readonly number[],
): void {
  makeRoom(book, memory);
  for (const page of pages) {
    const content = memory.subarray(page * PAGE, page * PAGE + PAGE);
    if (ZERO.compare(content, 0, PAGE, 0, PAGE) === 0) book.hashes.fill(0, page * HASH, page * HASH + HASH);
    else book.hashes.write(hash('sha256', content, 'binary'), page * HASH, HASH, 'binary');
  }
}

/** Writes hashes into the book that are known already, one after the other. */
export function takeHashes(
  book: PageBook,
  memory: Uint8Array,
  pages: readonly number[],
  hashes: Uint8Array,
): void {
  makeRoom(book, memory);
  for (let i = 0; i < pages.length; ) {
    // A run of pages at once.
    const start = i;
    const page = pages[start] as number;
    while (i < pages.length && pages[i] === page + i - start) i++;
    book.hashes.set(hashes.subarray(start * HASH, i * HASH), page * HASH);
  }
}

/** The hashes of the named pages as the book has them, one after the other. */
export function copyHashes({ hashes }: PageBook, pages: readonly number[], into: Uint8Array): void {
  for (const [i, page] of pages.entries())
    into.set(hashes.subarray(page * HASH, page * HASH + HASH), i * HASH);
}

/** Whether the named pages of memory have the hashes that the book says. */
export function areAsHashed({ hashes }: PageBook, memory: Uint8Array, pages: readonly number[]): boolean {
  const found = { hashes: Buffer.from(hashes) };
  hashPages(found, memory, pages);
  return found.hashes.equals(hashes);
}

function makeRoom(book: Pick<PageBook, 'hashes'>, memory: Uint8Array): void {
  const room = (memory.length / PAGE) * HASH;
  if (book.hashes.length < room) book.hashes = Buffer.concat([book.hashes], room);
}

/** The digest over all pages of memory as the book has it, and over what else `what` says of the heap. */
export function digestOf({ hashes }: PageBook, what: string): string {
  return createHash('sha256').update(`heap 1 ${what}\n`).update(hashes).digest('hex');
}

/** Mixes `from` into as many bytes of `into` from `at` on. */
function xor(into: Uint8Array, at: number, from: Uint8Array): void {
  const { memory, mix } = lanes();
  for (let done = 0; done < from.length; done += MOST_BYTES) {
    const part = from.subarray(done, done + MOST_BYTES);
    const first = at + done;
    memory.set(into.subarray(first, first + part.length));
    memory.set(part, rowAt(0));
    mix(part.length);
    into.set(memory.subarray(0, part.length), first);
  }
}
