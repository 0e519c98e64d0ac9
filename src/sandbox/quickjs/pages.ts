/**
 * The memory of a heap in pages: what has changed since the last image, and the digest over all of it.
 *
 * F1  `digest` says the same for equal memories, however they came about: a page of zeros has a hash of its own, whether
 *     it was ever written or not.
 * F2  The work of a step is linear in the pages that changed, plus one comparison of memory.
 */

import { createHash, hash } from 'node:crypto';
import { fromPlanes } from './planes.ts';

export const PAGE = 4096;
const CHUNK = 65536;
const PER_CHUNK = CHUNK / PAGE;
const WORDS = PAGE / 4;
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
  const target = words(into);
  for (const [i, page] of pages.entries()) {
    const chunk = chunks[Math.floor(page / PER_CHUNK)];
    if (chunk) xor(target, i * WORDS, words(chunk), (page % PER_CHUNK) * WORDS);
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
  const write = (from: number, count: number, into: Uint8Array, at: number) => {
    if (isPlaned) fromPlanes(content, from * PAGE, count * PAGE, into, at * PAGE);
    else into.set(content.subarray(from * PAGE, (from + count) * PAGE), at * PAGE);
  };
  const target = words(memory);
  const added = new Uint8Array(PAGE);
  for (let i = 0; i < pages.length; ) {
    const page = pages[i] as number;
    if (filled.has(page)) {
      write(i, 1, added, 0);
      xor(target, page * WORDS, words(added), 0);
      i++;
      continue;
    }
    // A run of new pages at once.
    const start = i;
    for (; i < pages.length && pages[i] === page + i - start && !filled.has(pages[i] as number); i++)
      filled.add(pages[i] as number);
    write(start, i - start, memory, page);
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

export const words = (bytes: Uint8Array) =>
  new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);

function xor(into: Int32Array, at: number, from: Int32Array, fromAt: number): void {
  for (let i = 0; i < WORDS; i++) into[at + i] = (into[at + i] as number) ^ (from[fromAt + i] as number);
}
