/**
 * What the lanes of the processor do to sixteen bytes at a time: to turn squares of 16 times 16 bytes, so that their rows
 * become columns, and to mix one piece of memory into another. JavaScript has no lanes, and its loops are compiled only
 * while they run: a heap that wakes waited for these two as long as for all that is inflated. So here stands a WebAssembly
 * module, put together from its loops: two kilobytes, compiled in a fraction of a millisecond, as fast the first time as ever.
 *
 * O1  A square is turned in four rounds of the same step: rows `i` and `i + 8` are merged byte by byte into rows `2i` and
 *     `2i + 1`. Each round the four bits of a byte's row and the four of its column go on by one, as on one ring of eight;
 *     after four rounds they have changed places.
 * O2  The rows of many squares stand apart by a little more than they are long: 16 rows at a power of two would share
 *     the same few lines of the processor's cache.
 * O3  A megabyte at once: for code that runs for the first time each call is dear.
 */

export const SIDE = 16;
export const SQUARE = SIDE * SIDE;
/** O3. */
export const MOST_SQUARES = 4_096;
export const MOST_BYTES = MOST_SQUARES * SQUARE;

export interface Lanes {
  /** At its beginning stand squares, or what is mixed into; from `rowAt(0)` on their rows, or what is mixed in. */
  readonly memory: Uint8Array;
  /** Of so many squares the first rows become the first bytes of each row, and so on. */
  toRows(squares: number): void;
  /** The other way. */
  toSquares(squares: number): void;
  /** The exclusive or of so many bytes, a multiple of 16. */
  mix(bytes: number): void;
}

/** O2. Where row `row` of all squares begins. */
export const rowAt = (row: number): number => MOST_BYTES + row * STRIDE;
const STRIDE = MOST_SQUARES * SIDE + 64;

/** Made when it is first wanted, for this thread. */
export function lanes(): Lanes {
  own ??= make();
  return own;
}

let own: Lanes | null = null;

function make(): Lanes {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(assembled()), {});
  const { memory, turn, mix } = instance.exports as unknown as Exports;
  return {
    memory: new Uint8Array(memory.buffer),
    toRows: (squares) => turn(0, SIDE, SQUARE, rowAt(0), STRIDE, SIDE, squares),
    toSquares: (squares) => turn(rowAt(0), STRIDE, SIDE, 0, SIDE, SQUARE, squares),
    mix: (bytes) => mix(0, rowAt(0), bytes / LANES),
  };
}

type Turn = [
  ...[from: number, fromRow: number, fromSquare: number],
  ...[into: number, intoRow: number, intoSquare: number],
  count: number,
];

interface Exports {
  readonly memory: WebAssembly.Memory;
  /** For source and target: where the first square begins, and how far it is to the next row and to the next square. */
  turn(...turn: Turn): void;
  mix(into: number, from: number, count: number): void;
}

// ── the two functions ──────────────────────────────────────────────────────────────────────────────────────

const LANES = 16;

interface Code {
  readonly name: keyof Exports;
  readonly parameters: number;
  /** How many locals of sixteen bytes, and of an address, stand behind the parameters. */
  readonly locals: readonly [vectors: number, addresses: number];
  readonly body: readonly number[];
}

function turnCode(): Code {
  const [from, fromRow, fromSquare, into, intoRow, intoSquare, count] = [0, 1, 2, 3, 4, 5, 6] as const;
  // Two sets of rows: each round reads one and writes the other.
  const [rows, turned, at] = [7, 7 + SIDE, 7 + 2 * SIDE];
  const body = times(count, [
    ...[...get(from), ...set(at)],
    ...sixteen((row) => [...get(at), ...LOAD, ...set(rows + row), ...advance(at, fromRow)]),
    ...[...round(rows, turned), ...round(turned, rows), ...round(rows, turned), ...round(turned, rows)],
    ...[...get(into), ...set(at)],
    ...sixteen((row) => [...get(at), ...get(rows + row), ...STORE, ...advance(at, intoRow)]),
    ...[...advance(from, fromSquare), ...advance(into, intoSquare)],
  ]);
  return { name: 'turn', parameters: 7, locals: [2 * SIDE, 1], body };
}

/** O1. */
function round(from: number, into: number): readonly number[] {
  return sixteen((row) => {
    const pair = [...get(from + (row >> 1)), ...get(from + (row >> 1) + SIDE / 2)];
    return [...pair, ...merge((row % 2) * (SIDE / 2)), ...set(into + row)];
  });
}

function mixCode(): Code {
  const [into, from, count] = [0, 1, 2] as const;
  const body = times(count, [
    ...[...get(into), ...get(into), ...LOAD, ...get(from), ...LOAD, ...XOR, ...STORE],
    ...[...get(into), ...constant(LANES), ADD, ...set(into)],
    ...[...get(from), ...constant(LANES), ADD, ...set(from)],
  ]);
  return { name: 'mix', parameters: 3, locals: [0, 0], body };
}

// ── instructions ───────────────────────────────────────────────────────────────────────────────────────────

const [I32, V128, NOTHING, FUNCTION] = [0x7f, 0x7b, 0x40, 0x60];
const [ADD, SUBTRACT, IS_ZERO, END] = [0x6a, 0x6b, 0x45, 0x0b];

const get = (local: number): readonly number[] => [0x20, local];
const set = (local: number): readonly number[] => [0x21, local];
const constant = (value: number): readonly number[] => [0x41, value];
const vector = (operation: number, ...rest: readonly number[]): readonly number[] => [
  0xfd,
  operation,
  ...rest,
];
const LOAD = vector(0, 0, 0);
const STORE = vector(11, 0, 0);
const XOR = vector(81);
/** Of two vectors the eight bytes from `first` on, one of each in turn. */
const merge = (first: number): readonly number[] =>
  vector(13, ...sixteen((i) => [first + (i >> 1) + (i % 2) * LANES]));
const advance = (local: number, by: number): readonly number[] => [
  ...[...get(local), ...get(by), ADD],
  ...set(local),
];

/** As often as the local says, which is counted down. */
function times(count: number, body: readonly number[]): readonly number[] {
  const [block, loop] = [0x02, 0x03];
  const [leave, again] = [
    [0x0d, 1],
    [0x0c, 0],
  ] as const;
  return [
    ...[block, NOTHING, loop, NOTHING, ...get(count), IS_ZERO, ...leave],
    ...body,
    ...[...get(count), ...constant(1), SUBTRACT, ...set(count), ...again, END, END],
  ];
}

const sixteen = (make: (i: number) => readonly number[]): readonly number[] =>
  Array.from({ length: SIDE }, (_, i) => make(i)).flat();

// ── the module ─────────────────────────────────────────────────────────────────────────────────────────────

const WASM_PAGE = 65_536;

function assembled(): Uint8Array<ArrayBuffer> {
  const functions = [turnCode(), mixCode()];
  const [MEMORY, CODE] = [2, 0];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      functions.map(({ parameters }) => [FUNCTION, ...list(Array(parameters).fill([I32])), 0]),
    ),
    ...section(
      3,
      functions.map((_, i) => [i]),
    ),
    ...section(5, [[0, ...number(Math.ceil(rowAt(SIDE) / WASM_PAGE))]]),
    ...section(7, [
      [...text('memory'), MEMORY, 0],
      ...functions.map(({ name }, i) => [...text(name), CODE, i]),
    ]),
    ...section(10, functions.map(sized)),
  ]);
}

function sized({ locals: [vectors, addresses], body }: Code): readonly number[] {
  const code = [
    ...list([
      [...number(vectors), V128],
      [...number(addresses), I32],
    ]),
    ...body,
    END,
  ];
  return [...number(code.length), ...code];
}

function section(id: number, items: readonly (readonly number[])[]): readonly number[] {
  const body = list(items);
  return [id, ...number(body.length), ...body];
}

const list = (items: readonly (readonly number[])[]): readonly number[] => [
  ...number(items.length),
  ...items.flat(),
];
const text = (name: string): readonly number[] => list([...Buffer.from(name)].map((byte) => [byte]));
/** Seven bits in a byte, the low ones first. */
const number = (value: number): readonly number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...number(value >> 7)];
