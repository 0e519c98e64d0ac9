/**
 * An instance of a build and everything that it can ask of the outside: the whole of the guest's world.
 *
 * H1  The imports are pure but for `Running`, which begins anew with each entry (`begin`).
 * H2  Time is the entry's, plus a microsecond for each look. Randomness is seeded, once, at the start. There are no
 *     files, no modules, no other time zone than UTC.
 */

import type { AbortReason } from '../../core/heap/event.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import type { Box, Exports } from './abi.ts';
import type { Guard } from './guard.ts';

const MiB = 1 << 20;

/** The guest came to no rest; the engine is of no use any more. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly reason: AbortReason;

  constructor(reason: AbortReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** What changes while an entry runs; all of it begins anew with the next. */
export interface Running {
  /** Only while the engine starts. */
  outside: Outside | null;
  guard: Guard | null;
  /** Nanoseconds of the guest's clock. */
  clock: bigint;
  fuel: number;
  /** The limit of the heap that runs here. */
  heapMb: number;
  stop: AbortReason | null;
  /** Promises that were rejected and have no handler so far, by identity. */
  readonly rejections: Map<number, { readonly promise: Box; readonly reason: Box }>;
}

export interface Instance {
  readonly c: Exports;
  readonly running: Running;
}

/** A new instance of a build: nothing has run in it, not even its own start. */
export function instantiate(module: WebAssembly.Module, heapMb: number, outside: Outside | null): Instance {
  const running: Running = {
    outside,
    guard: null,
    clock: 0n,
    fuel: 0,
    heapMb,
    stop: null,
    rejections: new Map(),
  };
  let c: Exports;
  const memory = () => c.memory.buffer;
  const free = (...boxes: Box[]) => {
    for (const box of boxes) c.qjs_free_value(box);
  };
  const env = {
    host_call(name: number, length: number, _self: Box, count: number, args: number): Box {
      const asked = Buffer.from(memory(), name, length).toString('latin1');
      if (asked === 'overflow') running.stop ??= 'output';
      const value = count > 0 ? new DataView(memory()).getUint32(args, true) : 0;
      return c.qjs_new_number(asked === 'classOf' && value !== 0 ? c.qjs_get_class_id(value) : 0);
    },
    host_interrupt(): number {
      running.fuel++;
      running.stop ??= running.guard?.check(running.fuel) ?? null;
      if (running.stop === null) topUp(c, running.heapMb);
      return running.stop === null ? 0 : 1;
    },
    host_promise_rejection(promise: Box, reason: Box, isHandled: number): void {
      const id = c.qjs_get_value_ptr(promise);
      const known = running.rejections.get(id);
      if (known) free(known.promise, known.reason);
      running.rejections.delete(id);
      if (isHandled === 0) running.rejections.set(id, { promise, reason });
      else free(promise, reason);
    },
    host_module_normalize: () => 0,
    host_module_load: () => 0,
    host_get_timezone_offset: () => 0,
  };
  const wasi_snapshot_preview1 = {
    clock_time_get(id: number, _precision: bigint, result: number): number {
      const now = id === REALTIME ? (running.outside?.realtime ?? running.clock) : running.clock;
      new DataView(memory()).setBigUint64(result, now, true);
      running.clock += 1000n;
      return 0;
    },
    random_get(pointer: number, length: number): number {
      if (running.outside === null) return NOSYS;
      running.outside.random(new Uint8Array(memory(), pointer, length));
      return 0;
    },
    fd_write: () => BADF,
    fd_close: () => BADF,
    fd_seek: () => BADF,
    fd_fdstat_get: () => BADF,
  };
  c = new WebAssembly.Instance(module, { env, wasi_snapshot_preview1 }).exports as Exports;
  return { c, running };
}

const REALTIME = 0;
const BADF = 8;
const NOSYS = 52;

/** What an engine may learn of the outside while it starts, and never again. */
export interface Outside {
  random(bytes: Uint8Array): void;
  readonly realtime: bigint;
}

/** The engine seeds `Math.random` with the microseconds of the wall clock at its start: the seed stands in for them. */
export function bootOutside(seed: number): Outside {
  const { next } = seededEntropy(seed);
  const micros = BigInt(Math.floor(next() * 2 ** 32)) * 2n ** 21n + BigInt(Math.floor(next() * 2 ** 21)) + 1n;
  return {
    realtime: micros * 1000n,
    random(bytes) {
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(next() * 256);
    },
  };
}

/**
 * Lets garbage grow to 32 MiB, or a quarter of the heap, before the engine looks for cycles. The engine's own 256 KiB
 * makes cells slow and dirties pages, and after each collection it goes down to half as much again as is in use.
 */
export function easeCollector(c: Exports, heapMb: number): void {
  const bytes = Math.min(32, heapMb / 4) * MiB;
  if (c.qjs_get_gc_threshold() >>> 0 < bytes) c.qjs_set_gc_threshold(bytes);
}

/**
 * Keeps room free at the end of memory. The engine grows by 64 KiB at a time, and each growth costs Node so much that
 * a million objects take four times as long; asking for a larger piece and giving it back leaves it with the allocator.
 */
export function topUp(c: Exports, heapMb: number): void {
  const bytes = c.memory.buffer.byteLength;
  const free = bytes - (c.qjs_get_allocated_size() >>> 0);
  if (free >= Math.max(2 * MiB, bytes / 8) || bytes > heapMb * 1.25 * MiB) return;
  const piece = c.wasm_malloc(Math.max(4 * MiB, bytes / 4));
  if (piece !== 0) c.wasm_free(piece);
}
