/**
 * An engine build: the WebAssembly module, and the memory with which its heaps begin.
 *
 * That memory belongs to the build because an image is what a heap has made of it: a small session is then 15 KB, not
 * 190. It is kept as it came out of our boot script, so no later release has to repeat that script to open the image.
 *
 * N1  A build is known by the SHA-256 of its packed bytes and nothing else; the same release packs the same bytes
 *     everywhere.
 * N2  The boot script is turned into bytecode once for each process: reading its text costs 25 ms, bytecode 1 ms, and a
 *     heap without the text is half as large. A build from the shelf has none: it opens heaps and makes no new ones.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { OutlastError } from '../../core/error.ts';
import { sha256 } from '../../lib/digest.ts';
import { allocate, COMPILE_STRIP_SOURCE, writeText } from './abi.ts';
import { bootEngine } from './engine.ts';
import { BOOT } from './guest/boot.ts';
import { instantiate } from './instance.ts';
import { copyPages, filledPages, PAGE } from './pages.ts';

/** The memory with which the heaps of a build begin; pages that are left out are zero. */
export interface Beginning {
  readonly pages: readonly number[];
  /** The content of the pages, one after the other. */
  readonly content: Uint8Array;
}

export interface Build {
  readonly hash: string;
  readonly module: WebAssembly.Module;
  readonly beginning: Beginning;
  /** Bytecode of the boot script; null in a build that makes no new heaps. */
  readonly boot: Uint8Array | null;
}

export interface Packed {
  readonly build: Build;
  /** What a shelf keeps of it. */
  readonly packed: Uint8Array;
}

/** The build that this release brings along; made once for the process. */
export function bundledBuild(): Packed {
  bundled ??= makeBuild(bundledModule());
  return bundled;
}

let bundled: Packed | null = null;

/** The engine that this release brings along. */
export function bundledModule(): Uint8Array {
  return readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
}

/** Makes a build of a module. */
export function makeBuild(wasm: Uint8Array): Packed {
  const module = new WebAssembly.Module(wasm);
  const boot = compileBoot(module);
  const memory = bootEngine({ module, boot }, { seed: 0, heapMb: 256, outputChars: 16_000 }).memory();
  const pages = filledPages(memory);
  const content = new Uint8Array(new SharedArrayBuffer(pages.length * PAGE)); // One copy for all threads.
  copyPages(memory, pages, content);
  const packed = pack(wasm, { pages, content });
  return { build: { hash: sha256(packed), module, beginning: { pages, content }, boot }, packed };
}

/** The build in what a shelf has kept. */
export function openBuild(packed: Uint8Array, hash: string): Build {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const [wasmBytes, count] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
  const numbers = 8 + wasmBytes;
  const pages = Array.from({ length: count }, (_, i) => bytes.readUInt32LE(numbers + i * 4));
  const content = new Uint8Array(new SharedArrayBuffer(count * PAGE));
  content.set(bytes.subarray(numbers + count * 4));
  const module = new WebAssembly.Module(bytes.subarray(8, numbers));
  return { hash, module, beginning: { pages, content }, boot: null };
}

/** An engine build that an image needs and that is not on the shelf. */
export function missingBuild(hash: string): OutlastError {
  return new OutlastError(
    'blob.missing',
    `The engine build ${hash.slice(0, 12)}… that this heap needs is not here.`,
    {
      next: 'put the build back on the shelf, or open an older image',
    },
  );
}

function pack(wasm: Uint8Array, { pages, content }: Beginning): Uint8Array {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(wasm.length, 0);
  head.writeUInt32LE(pages.length, 4);
  const numbers = Buffer.alloc(pages.length * 4);
  for (const [i, page] of pages.entries()) numbers.writeUInt32LE(page, i * 4);
  return Buffer.concat([head, wasm, numbers, content]);
}

function compileBoot(module: WebAssembly.Module): Uint8Array {
  const { c } = instantiate(module, 0, null);
  c._initialize();
  if (c.qjs_init() !== 0) throw new Error('the engine did not start');
  const { pointer, length } = writeText(c, `(${BOOT})`);
  const file = writeText(c, '<outlast>');
  const size = allocate(c, 4);
  const code = c.qjs_compile(pointer, length, file.pointer, 0, COMPILE_STRIP_SOURCE, size);
  if (code === 0) throw new Error('the boot script does not compile');
  const bytes = new DataView(c.memory.buffer).getUint32(size, true);
  return new Uint8Array(c.memory.buffer, code, bytes).slice();
}
