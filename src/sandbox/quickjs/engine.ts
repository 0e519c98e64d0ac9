/**
 * One engine: an instance of a build, with the guest in it, driven entry by entry.
 *
 * G1  Nothing of an engine lives outside the guest's memory and its stack pointer between two entries: the random
 *     state, the call counter and the open cells are in the heap; the clock and the fuel begin anew with each entry.
 *     So memory and stack pointer are the whole of an image, and to restore them changes no byte.
 * G2  What an entry does to memory follows from memory and the entry alone: time is the entry's, randomness is seeded,
 *     memory is grown by rule. No import gives the guest anything else.
 * G3  An entry ends at rest, or with `Stopped`. After `Stopped` the engine must not be used again.
 * G4  An exception that the guest cannot catch (out of memory, interrupted), a throw that is no exception of the guest,
 *     or a stack pointer that did not come back, each ends the engine.
 */

import { assert } from '../../lib/assert.ts';
import type { HeapInput } from '../port.ts';
import {
  allocate,
  type Box,
  EVAL_ASYNC,
  type Exports,
  newHostFunction,
  newString,
  OutOfMemory,
  readText,
  writeText,
} from './abi.ts';
import type { Guard } from './guard.ts';
import { HELPERS, type HelperName } from './guest/boot.ts';
import {
  bootOutside,
  easeCollector,
  type Instance,
  instantiate,
  type Running,
  Stopped,
  topUp,
} from './instance.ts';

const MiB = 1 << 20;
/** Of the 1 MiB that the build gives its stack: half for the guest, half for the engine's own frames. */
const STACK_BYTES = 512 * 1024;
/** A look at the guard for this many jobs: the engine itself looks too seldom when each job is short. */
const JOBS_PER_LOOK = 256;
/** Promises rejected without a handler that a step names; more would say little. */
const REJECTIONS = 10;

/** What a new engine needs of its build. */
export interface Bootable {
  readonly module: WebAssembly.Module;
  readonly boot: Uint8Array;
}

/** What of a heap is fixed when it is made. */
export interface Making {
  readonly seed: number;
  readonly heapMb: number;
  readonly outputChars: number;
}

export type Helpers = Readonly<Record<HelperName, Box>>;

/** Where things lie in a heap: constant from boot on, and part of every base image. */
export interface Layout {
  readonly stackPointer: number;
  readonly undefined: Box;
  readonly helpers: Helpers;
  readonly heapMb: number;
  readonly outputChars: number;
}

export interface Engine {
  readonly layout: Layout;
  memory(): Uint8Array;
  /** Applies one entry and runs the guest to rest. Returns what it says then, as the JSON of its helper `take`. */
  apply(input: HeapInput, guard: Guard): { readonly said: string; readonly fuel: number };
  /** What was printed before the guest was stopped, as far as it can still say so. */
  lastWords(): string;
}

/** An engine in which no cell has run. */
export function bootEngine({ module, boot }: Bootable, making: Making): Engine {
  const { c, running } = instantiate(module, making.heapMb, bootOutside(making.seed));
  c._initialize();
  if (c.qjs_init() !== 0) throw new Stopped('memory', 'the engine did not start');
  c.qjs_set_memory_limit(making.heapMb * MiB);
  c.qjs_set_max_stack_size(STACK_BYTES);
  easeCollector(c, making.heapMb);
  c.qjs_set_interrupt_handler(1);
  c.qjs_set_promise_rejection_handler(1);
  const undef = c.qjs_get_undefined();
  const helpers = bootGuest(c, boot, undef, making.outputChars);
  const layout: Layout = {
    stackPointer: c.__stack_pointer.value,
    undefined: undef,
    helpers,
    heapMb: making.heapMb,
    outputChars: making.outputChars,
  };
  running.outside = null;
  return engineOf({ c, running, layout });
}

/** An instance for a heap that is to wake: its memory is zero, and has at least these bytes. */
export function blankInstance(module: WebAssembly.Module, bytes: number): Instance {
  const instance = instantiate(module, 0, null);
  new Uint8Array(instance.c.memory.buffer).fill(0); // What the build itself puts there; an image has its own.
  growTo(instance, Math.ceil(bytes / 65536) * 65536);
  return instance;
}

/** Grows the memory of a blank instance to so many bytes, and has the system give it: zeros that are written. */
export function touchMemory(instance: Instance, bytes: number): void {
  const from = instance.c.memory.buffer.byteLength;
  growTo(instance, Math.floor(bytes / 65536) * 65536);
  new Uint8Array(instance.c.memory.buffer).fill(0, from);
}

function growTo({ c }: Instance, bytes: number): void {
  const missing = bytes - c.memory.buffer.byteLength;
  if (missing > 0) c.memory.grow(missing / 65536);
}

/** Makes an engine of a blank instance. `fill` writes its memory, which is `bytes` long then: that of an image. */
export async function wakeEngine(
  instance: Instance,
  layout: Layout,
  bytes: number,
  fill: (memory: Uint8Array) => Promise<void>,
): Promise<Engine> {
  const { c, running } = instance;
  growTo(instance, bytes);
  assert(c.memory.buffer.byteLength === bytes, 'an image is as long as the memory of an engine');
  await fill(new Uint8Array(c.memory.buffer));
  c.__stack_pointer.value = layout.stackPointer;
  running.heapMb = layout.heapMb;
  return engineOf({ c, running, layout });
}

/** What the functions below work on. */
interface Inside {
  readonly c: Exports;
  readonly running: Running;
  readonly layout: Layout;
}

function engineOf(inside: Inside): Engine {
  const { c, running, layout } = inside;
  return {
    layout,
    memory: () => new Uint8Array(c.memory.buffer),
    apply(input, guard) {
      try {
        begin(running, input.at, guard);
        easeCollector(c, layout.heapMb);
        topUp(c, layout.heapMb);
        if (input.kind === 'run') run(inside, input);
        else deliver(inside, input);
        runJobs(inside, guard);
        reportRejections(inside);
        return { said: atRest(inside), fuel: running.fuel };
      } catch (error) {
        throw stopped(error, running);
      } finally {
        running.guard = null;
      }
    },
    lastWords() {
      try {
        running.stop = null;
        return take(inside);
      } catch {
        return '';
      }
    },
  };
}

// ── one entry ──────────────────────────────────────────────────────────────────────────────────────────────

function begin(running: Running, at: number, guard: Guard): void {
  running.clock = BigInt(Math.trunc(at)) * 1_000_000n;
  running.fuel = 0;
  running.rejections.clear();
  running.guard = guard;
  guard.begin();
  running.stop = guard.check(0);
  if (running.stop !== null) throw new Stopped(running.stop, '');
}

function run(inside: Inside, { cell, code }: Extract<HeapInput, { kind: 'run' }>): void {
  const { c } = inside;
  const source = writeText(c, code);
  const file = writeText(c, cell);
  const promise = c.qjs_eval(source.pointer, source.length, file.pointer, EVAL_ASYNC);
  c.wasm_free(source.pointer);
  c.wasm_free(file.pointer);
  const name = newString(c, cell);
  if (c.qjs_is_exception(promise) !== 0) {
    const error = takeException(inside);
    tell(inside, 'fail', [name, error]);
    c.qjs_free_value(error);
  } else tell(inside, 'track', [name, promise]);
  c.qjs_free_value(promise);
  c.qjs_free_value(name);
}

function deliver(inside: Inside, { guestCall, ok, json }: Extract<HeapInput, { kind: 'delivery' }>): void {
  const { c } = inside;
  const args = [c.qjs_new_number(guestCall), ok ? c.qjs_get_true() : c.qjs_get_false(), newString(c, json)];
  tell(inside, 'settle', args);
  for (const arg of args) c.qjs_free_value(arg);
}

function runJobs(inside: Inside, guard: Guard): void {
  const { c, running } = inside;
  for (let count = 1; c.qjs_is_job_pending() !== 0; count++) {
    if (c.qjs_execute_pending_job() < 0) {
      const error = takeException(inside);
      complain(inside, 'Uncaught', error);
      c.qjs_free_value(error);
    }
    if (count % JOBS_PER_LOOK === 0) running.stop ??= guard.check(++running.fuel);
    if (running.stop !== null) throw new Stopped(running.stop, '');
  }
}

function reportRejections(inside: Inside): void {
  const { c, running } = inside;
  let count = 0;
  for (const { promise, reason } of running.rejections.values()) {
    if (count++ < REJECTIONS) complain(inside, 'Unhandled rejection', reason);
    c.qjs_free_value(promise);
    c.qjs_free_value(reason);
  }
  running.rejections.clear();
}

/** What the guest says when it has come to rest, and the last look at whether it really has. */
function atRest(inside: Inside): string {
  const { c, running, layout } = inside;
  const said = take(inside);
  if (running.stop !== null) throw new Stopped(running.stop, '');
  if (c.__stack_pointer.value !== layout.stackPointer)
    throw new Stopped('poisoned', 'the stack of the engine did not come back');
  return said;
}

// ── calls into the guest ───────────────────────────────────────────────────────────────────────────────────

function take(inside: Inside): string {
  const said = callHelper(inside, 'take', []);
  const text = readText(inside.c, said);
  inside.c.qjs_free_value(said);
  return text;
}

function complain(inside: Inside, label: string, error: Box): void {
  const text = newString(inside.c, label);
  tell(inside, 'complain', [text, error]);
  inside.c.qjs_free_value(text);
}

function tell(inside: Inside, helper: HelperName, args: readonly Box[]): void {
  inside.c.qjs_free_value(callHelper(inside, helper, args));
}

function callHelper(inside: Inside, helper: HelperName, args: readonly Box[]): Box {
  const { c, layout } = inside;
  const result = call(c, layout.helpers[helper], layout.undefined, args);
  if (c.qjs_is_exception(result) === 0) return result;
  takeException(inside);
  throw new Stopped('poisoned', `the guest's ${helper} threw`);
}

function call(c: Exports, fn: Box, self: Box, args: readonly Box[]): Box {
  const list = allocate(c, Math.max(4, args.length * 4));
  new Uint32Array(c.memory.buffer, list, args.length).set(args);
  const result = c.qjs_call(fn, self, args.length, list);
  c.wasm_free(list);
  return result;
}

/** The exception that stands in the engine. One that the guest cannot catch ends it instead (G4). */
function takeException({ c, running }: Inside): Box {
  const error = c.qjs_get_exception();
  if (c.qjs_is_uncatchable_error(error) === 0) return error;
  throw running.stop === null
    ? new Stopped('memory', 'the heap is at its limit')
    : new Stopped(running.stop, '');
}

function stopped(error: unknown, running: Running): Stopped {
  if (error instanceof Stopped) return error;
  if (error instanceof OutOfMemory) return new Stopped('memory', error.message);
  // A RangeError here is the native stack, a RuntimeError a trap: the engine was torn out of the middle of its work.
  return new Stopped(running.stop ?? 'poisoned', error instanceof Error ? error.message : String(error));
}

// ── boot ───────────────────────────────────────────────────────────────────────────────────────────────────

function bootGuest(c: Exports, bytecode: Uint8Array, undef: Box, outputChars: number): Helpers {
  const pointer = allocate(c, bytecode.length);
  new Uint8Array(c.memory.buffer).set(bytecode, pointer);
  const boot = c.qjs_eval_bytecode(pointer, bytecode.length);
  c.wasm_free(pointer);
  const args = [newHostFunction(c, 'classOf'), newHostFunction(c, 'overflow'), c.qjs_new_number(outputChars)];
  const made = call(c, boot, undef, args);
  if (c.qjs_is_exception(made) !== 0) throw new Stopped('memory', readText(c, c.qjs_get_exception()));
  const helpers = HELPERS.map((name) => [name, property(c, made, name)] as const);
  for (const box of [boot, made, ...args]) c.qjs_free_value(box);
  return Object.fromEntries(helpers) as Helpers;
}

function property(c: Exports, object: Box, name: string): Box {
  const { pointer } = writeText(c, name);
  const value = c.qjs_get_prop_string(object, pointer);
  c.wasm_free(pointer);
  return value;
}
