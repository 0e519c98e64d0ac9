/**
 * Bytes in planes: of each 16 bytes all the first ones stand together, then all the second ones, and so on. The engine
 * puts its objects on edges of 16 bytes, so a plane holds what is alike (types, the high bytes of pointers, zeros) and is
 * packed to half of what the bytes in their own order are, in less time, and unpacked in less.
 *
 * B1  `fromPlanes` undoes `toPlanes`, in any parts of whole 64 bytes.
 * B2  Four words are turned at a time, as a square of 16 bytes: byte by byte it takes longer than all that is gained.
 */

const PLANES = 16;
/** Words that the four squares of a block have: 64 bytes. */
const BLOCK = 16;

/** Puts content into planes. Both are as long, a multiple of 64 bytes. */
export function toPlanes(content: Int32Array, planes: Int32Array): void {
  const length = planes.length / PLANES;
  for (let word = 0; word < 4; word++)
    turn(
      { words: content, at: word, row: 4, square: BLOCK },
      { words: planes, at: word * 4 * length, row: length, square: 1 },
      length,
    );
}

/** Takes `count` words of content out of planes, from its word `from` on, and writes them to `into` from `at` on. */
export function fromPlanes(
  planes: Int32Array,
  from: number,
  count: number,
  into: Int32Array,
  at: number,
): void {
  const length = planes.length / PLANES;
  for (let word = 0; word < 4; word++)
    turn(
      { words: planes, at: word * 4 * length + from / BLOCK, row: length, square: 1 },
      { words: into, at: at + word, row: 4, square: BLOCK },
      count / BLOCK,
    );
}

/** Squares of four words: where the first begins, and how far it is to the next row and to the next square. */
interface Squares {
  readonly words: Int32Array;
  readonly at: number;
  readonly row: number;
  readonly square: number;
}

/** Writes squares with their rows as columns. */
function turn(from: Squares, into: Squares, count: number): void {
  const { words: source, row: sourceRow, square: sourceSquare } = from;
  const { words: target, row: targetRow, square: targetSquare } = into;
  let s = from.at;
  let t = into.at;
  for (let i = 0; i < count; i++) {
    const a = source[s] as number;
    const b = source[s + sourceRow] as number;
    const c = source[s + 2 * sourceRow] as number;
    const d = source[s + 3 * sourceRow] as number;
    const evenAb = (a & 0x00ff00ff) | ((b & 0x00ff00ff) << 8);
    const oddAb = ((a >>> 8) & 0x00ff00ff) | (b & 0xff00ff00);
    const evenCd = (c & 0x00ff00ff) | ((d & 0x00ff00ff) << 8);
    const oddCd = ((c >>> 8) & 0x00ff00ff) | (d & 0xff00ff00);
    target[t] = (evenAb & 0xffff) | (evenCd << 16);
    target[t + targetRow] = (oddAb & 0xffff) | (oddCd << 16);
    target[t + 2 * targetRow] = (evenAb >>> 16) | (evenCd & 0xffff0000);
    target[t + 3 * targetRow] = (oddAb >>> 16) | (oddCd & 0xffff0000);
    s += sourceSquare;
    t += targetSquare;
  }
}
