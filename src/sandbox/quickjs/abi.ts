/**
 * What we use of an engine build: the C functions of quickjs-wasi's WebAssembly module, and text in and out of it.
 *
 * The module is driven directly and not through the package's own JavaScript: that allocates in the guest's heap when
 * it feels like it (its handles for `undefined` and the global object, for instance), so that a heap that was restored
 * would differ from one that was not. A value is a pointer to a box in the guest's heap; whoever gets one frees it.
 *
 * A1  Only what stands here is used of a build, so that an old build can be driven by new code.
 */

declare global {
  /** The part of the WebAssembly API that we use; Node has it, its types do not. */
  namespace WebAssembly {
    class Module {
      constructor(bytes: Uint8Array);
    }
    class Instance {
      readonly exports: unknown;
      constructor(module: Module, imports: object);
    }
    class RuntimeError extends Error {}
    interface Memory {
      readonly buffer: ArrayBuffer;
      grow(pages: number): number;
    }
    interface Global {
      value: number;
    }
  }
}

/** A pointer to a boxed value. */
export type Box = number;

export interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __stack_pointer: WebAssembly.Global;
  _initialize(): void;
  qjs_init(): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_gc_threshold(bytes: number): void;
  qjs_get_gc_threshold(): number;
  qjs_set_interrupt_handler(on: number): void;
  qjs_set_promise_rejection_handler(on: number): void;
  qjs_get_allocated_size(): number;
  qjs_eval(code: number, length: number, filename: number, flags: number): Box;
  qjs_compile(
    code: number,
    length: number,
    filename: number,
    flags: number,
    strip: number,
    size: number,
  ): number;
  qjs_eval_bytecode(code: number, length: number): Box;
  qjs_call(fn: Box, self: Box, count: number, args: number): Box;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_is_exception(value: Box): number;
  qjs_get_exception(): Box;
  qjs_is_uncatchable_error(value: Box): number;
  qjs_new_host_function(name: number, length: number, magic: number): Box;
  qjs_new_string(text: number, length: number): Box;
  qjs_new_number(value: number): Box;
  qjs_get_undefined(): Box;
  qjs_get_true(): Box;
  qjs_get_false(): Box;
  qjs_get_string_len(value: Box, length: number): number;
  qjs_free_cstring(text: number): void;
  qjs_get_prop_string(object: Box, name: number): Box;
  qjs_get_class_id(value: Box): number;
  qjs_get_value_ptr(value: Box): number;
  qjs_free_value(value: Box): void;
  wasm_malloc(bytes: number): number;
  wasm_free(pointer: number): void;
}

/** Evaluate as a script that may `await`; gives a promise of `{ value }`. */
export const EVAL_ASYNC = 128;

/** Leave the source out of bytecode; line numbers stay. */
export const COMPILE_STRIP_SOURCE = 16;

/** The engine could not get memory; there is no room left even to say so in the guest. */
export class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory';
}

export function allocate(c: Exports, bytes: number): number {
  const pointer = c.wasm_malloc(bytes);
  if (pointer === 0) throw new OutOfMemory(`no room for ${bytes} bytes`);
  return pointer;
}

/** Copies text into the guest's heap, with a NUL behind it. The caller frees it. */
export function writeText(c: Exports, text: string): { readonly pointer: number; readonly length: number } {
  const bytes = Buffer.from(text, 'utf8');
  const pointer = allocate(c, bytes.length + 1);
  const heap = new Uint8Array(c.memory.buffer);
  heap.set(bytes, pointer);
  heap[pointer + bytes.length] = 0;
  return { pointer, length: bytes.length };
}

/** The text of a boxed string. */
export function readText(c: Exports, value: Box): string {
  const length = allocate(c, 4);
  const pointer = c.qjs_get_string_len(value, length);
  if (pointer === 0) throw new OutOfMemory('no room to read a string');
  const bytes = new DataView(c.memory.buffer).getUint32(length, true);
  const text = Buffer.from(c.memory.buffer, pointer, bytes).toString('utf8');
  c.qjs_free_cstring(pointer);
  c.wasm_free(length);
  return text;
}

export function newString(c: Exports, text: string): Box {
  const { pointer, length } = writeText(c, text);
  const box = c.qjs_new_string(pointer, length);
  c.wasm_free(pointer);
  return box;
}

/** A function in the guest that calls the import `host_call` with this name. */
export function newHostFunction(c: Exports, name: string): Box {
  const { pointer, length } = writeText(c, name);
  const box = c.qjs_new_host_function(pointer, length, 0);
  c.wasm_free(pointer);
  return box;
}
