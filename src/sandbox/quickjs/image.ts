/**
 * The bytes of an image: a head in JSON, then the pages, deflated.
 *
 * J1  The pages are the XOR against something: the beginning of the build in a base, the image before in a delta. Pages
 *     that are the same there are left out. A base also says where things lie.
 * J2  Decoding believes nothing: sizes and numbers are checked before they are used, and a bad image is `blob.forged`.
 * J3  Up to 256 pages are one stream (format 1). More are pieces that inflate side by side, their content in planes
 *     (format 4; in formats 2 and 3 as it is): a large heap wakes on all cores. Every format that was ever written is
 *     read for ever.
 * J4  A large base also has the hash of each of its pages in memory, and a checksum over each piece (formats 3 and 4).
 *     So it is known to be the right image, and unpacked as it was packed, before its pages are hashed again: see Q3.
 */

import { deflateRawSync, deflateSync, inflate, inflateRaw, inflateRawSync } from 'node:zlib';
import { OutlastError } from '../../core/error.ts';
import { isRecord } from '../../lib/json.ts';
import type { Layout } from './engine.ts';
import { HELPERS, PROTOCOL } from './guest/boot.ts';
import { HASH, PAGE, type SomePages } from './pages.ts';
import { toPlanes } from './planes.ts';

const MAGIC = 0x4c54554f; // "OUTL"
const WHOLE = 1;
const PIECES = 2;
const HASHED = 3;
const PLANED = 4;
const FORMATS: ReadonlySet<unknown> = new Set([WHOLE, PIECES, HASHED, PLANED]);
/** Small enough that a heap of 20 MB has work for every core until the end, large enough that starting it costs little. */
const PIECE_PAGES = 256;
/** Pieces that are inflated while one is taken in: all cores have work, and the heap's own thread is not the last. */
const AHEAD = 3;
const MAX_MEMORY = 2 ** 32;

export interface ImageHead {
  readonly form: 'base' | 'delta';
  readonly engine: string;
  /** Bytes of the engine's memory. */
  readonly memoryBytes: number;
  /** In a base only. */
  readonly layout: Layout | null;
}

/** An image whose pages are still packed. */
export interface PackedImage extends ImageHead {
  /** J4. */
  readonly isHashed: boolean;
  /** J3. */
  readonly isPlaned: boolean;
  readonly pieces: readonly Piece[];
}

interface Piece {
  /** Number of pages. */
  readonly count: number;
  readonly data: Buffer;
}

export interface Pages extends SomePages {
  /** The hashes of the pages as memory has them, one after the other; null where the image has none. */
  readonly hashes: Uint8Array | null;
}

/** What an image is made of. Both put what belongs to the named pages, one after the other, into what they are given. */
export interface PageSource {
  content(pages: readonly number[], into: Uint8Array): void;
  /** Of a base; null in a delta, whose pages are few. */
  readonly hashes: ((pages: readonly number[], into: Uint8Array) => void) | null;
}

export function encodeImage(head: ImageHead, pages: readonly number[], source: PageSource): Uint8Array {
  const isLarge = pages.length > PIECE_PAGES;
  const pieces = isLarge ? packPieces(pages, source) : [pack(pages, { ...source, hashes: null }, false)];
  const lengths = pieces.map((piece) => piece.length);
  const format = isLarge
    ? { format: PLANED, isHashed: source.hashes !== null, pieces: lengths }
    : { format: WHOLE };
  const json = Buffer.from(JSON.stringify({ ...format, protocol: PROTOCOL, pages: pages.length, ...head }));
  const start = Buffer.alloc(8);
  start.writeUInt32LE(MAGIC, 0);
  start.writeUInt32LE(json.length, 4);
  return Buffer.concat([start, json, ...pieces]);
}

function packPieces(pages: readonly number[], source: PageSource): Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0; from < pages.length; from += PIECE_PAGES)
    pieces.push(pack(pages.slice(from, from + PIECE_PAGES), source, true));
  return pieces;
}

/** Bytes of a page in a piece: all numbers come first, then all hashes where there are any, then the content. */
const pageBytes = (isHashed: boolean): number => 4 + (isHashed ? HASH : 0) + PAGE;

function pack(pages: readonly number[], { content, hashes }: PageSource, isPlaned: boolean): Buffer {
  const raw = Buffer.alloc(pages.length * pageBytes(hashes !== null));
  for (const [i, page] of pages.entries()) raw.writeUInt32LE(page, i * 4);
  hashes?.(pages, raw.subarray(pages.length * 4, pages.length * (4 + HASH)));
  const body = raw.subarray(raw.length - pages.length * PAGE);
  if (isPlaned) {
    const plain = new Uint8Array(body.length);
    content(pages, plain);
    toPlanes(plain, body);
  } else content(pages, body);
  // Level 1: higher levels cost many times the time for a tenth of the size, and a delta is nearly all zeros.
  return hashes ? deflateSync(raw, { level: 1 }) : deflateRawSync(raw, { level: 1 });
}

/** Reads the head of an image and finds its pieces; their pages come from `unpack`. */
export function readImage(data: Uint8Array): PackedImage {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length < 8 || bytes.readUInt32LE(0) !== MAGIC) throw forged('it does not begin like one');
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw forged('it is cut off');
  const { head, count, pieces, isHashed, isPlaned } = readHead(bytes.subarray(8, end));
  return { ...head, isHashed, isPlaned, pieces: cut(bytes.subarray(end), count, pieces) };
}

/** The pages of an image, piece by piece and in order. The first pieces are begun at once. */
export function unpack(image: PackedImage): AsyncGenerator<Pages, void, void> {
  const { isHashed } = image;
  const isSmall = image.pieces.length === 1 && !isHashed;
  const begin = (piece: Piece): Promise<Buffer> => {
    const begun = isSmall ? inflateNow(piece) : inflateBeside(piece, isHashed);
    // It may fail while an earlier piece is awaited; whoever awaits this one is told.
    begun.catch(() => {});
    return begun;
  };
  return arriving(image, image.pieces.slice(0, AHEAD).map(begin), begin);
}

async function* arriving(
  { memoryBytes, pieces, isHashed, isPlaned }: PackedImage,
  begun: Promise<Buffer>[],
  begin: (piece: Piece) => Promise<Buffer>,
): AsyncGenerator<Pages, void, void> {
  let last = -1;
  for (const [i, { count }] of pieces.entries()) {
    const raw = await (begun[i] as Promise<Buffer>);
    const ahead = pieces[i + AHEAD];
    if (ahead) begun.push(begin(ahead));
    // A view of its own: by `readUInt32LE`, numbers cost a cold thread as much as their pages.
    const numbers = new DataView(raw.buffer, raw.byteOffset, count * 4);
    const pages: number[] = [];
    for (let k = 0; k < count; k++) pages.push(numbers.getUint32(k * 4, true));
    for (const page of pages) {
      if (page <= last || page >= memoryBytes / PAGE) throw forged('a page lies outside of memory');
      last = page;
    }
    const content = raw.length - count * PAGE;
    yield {
      pages,
      content: raw.subarray(content),
      isPlaned,
      hashes: isHashed ? raw.subarray(count * 4, content) : null,
    };
  }
}

/**
 * Packs and unpacks a few pages for nothing. What unpacks side by side is compiled when it runs for the first time, and a
 * heap that wakes would wait for that.
 */
export async function rehearse(): Promise<void> {
  const pages = Array.from({ length: PIECE_PAGES + 1 }, (_, page) => page);
  const head = { form: 'delta', engine: '', memoryBytes: MAX_MEMORY, layout: null } as const;
  await unpackWhole(readImage(encodeImage(head, pages, { content: () => {}, hashes: () => {} })));
}

/** All pages of an image at once. */
export async function unpackWhole(image: PackedImage): Promise<readonly Pages[]> {
  const all: Pages[] = [];
  for await (const pages of unpack(image)) all.push(pages);
  return all;
}

function cut(body: Buffer, count: number, lengths: readonly number[] | null): readonly Piece[] {
  if (lengths === null) return [{ count, data: body }];
  let at = 0;
  const pieces = lengths.map((length, i): Piece => {
    const data = body.subarray(at, at + length);
    at += length;
    return { count: Math.min(PIECE_PAGES, count - i * PIECE_PAGES), data };
  });
  if (at !== body.length) throw forged('its pieces are not as long as it says');
  return pieces;
}

function readHead(bytes: Buffer): {
  readonly head: ImageHead;
  readonly count: number;
  /** Bytes of each piece; null for one stream. */
  readonly pieces: readonly number[] | null;
  readonly isHashed: boolean;
  readonly isPlaned: boolean;
} {
  const read = parse(bytes);
  if (!isRecord(read) || !FORMATS.has(read.format)) throw forged('its format is not known');
  const { form, engine, memoryBytes, pages, protocol } = read;
  if (protocol !== PROTOCOL)
    throw new OutlastError(
      'blob.missing',
      `This heap speaks protocol ${protocol}; this build knows ${PROTOCOL}.`,
    );
  const isSized = isCount(memoryBytes, MAX_MEMORY) && memoryBytes % 65536 === 0;
  if (!isSized || !isCount(pages, memoryBytes / PAGE)) throw forged('its sizes are wrong');
  if ((form !== 'base' && form !== 'delta') || typeof engine !== 'string')
    throw forged('its form is not known');
  const layout = form === 'base' ? readLayout(read.layout, memoryBytes) : null;
  const lengths = read.format === WHOLE ? null : readPieces(read.pieces, pages);
  const isPlaned = read.format === PLANED;
  const isHashed = read.format === HASHED || (isPlaned && read.isHashed === true);
  return { head: { form, engine, memoryBytes, layout }, count: pages, pieces: lengths, isHashed, isPlaned };
}

function readPieces(value: unknown, pages: number): readonly number[] {
  const isList = Array.isArray(value) && value.length === Math.ceil(pages / PIECE_PAGES);
  if (!isList || !value.every((length) => isCount(length, MAX_MEMORY)))
    throw forged('its pieces are not what they should be');
  return value;
}

function readLayout(value: unknown, memoryBytes: number): Layout {
  if (!isRecord(value) || !isRecord(value.helpers)) throw forged('its layout is not there');
  const { stackPointer, undefined: undef, helpers, heapMb, outputChars } = value;
  const isPlace = (place: unknown): place is number => isCount(place, memoryBytes);
  if (!isPlace(stackPointer) || !isPlace(undef) || !HELPERS.every((name) => isPlace(helpers[name])))
    throw forged('its layout points outside of memory');
  if (typeof heapMb !== 'number' || !isCount(outputChars, 2 ** 31)) throw forged('its limits are wrong');
  return { stackPointer, undefined: undef, helpers: helpers as Layout['helpers'], heapMb, outputChars };
}

const isCount = (value: unknown, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;

/** In the calling thread: a small image is there sooner so, and a simulator sees no thread. */
async function inflateNow({ count, data }: Piece): Promise<Buffer> {
  try {
    const bytes = count * pageBytes(false);
    return inflated(inflateRawSync(data, sized(bytes)), bytes);
  } catch (error) {
    throw unreadable(error);
  }
}

function inflateBeside({ count, data }: Piece, isHashed: boolean): Promise<Buffer> {
  const bytes = count * pageBytes(isHashed);
  const start = isHashed ? inflate : inflateRaw;
  return new Promise<Buffer>((resolve, reject) => {
    start(data, sized(bytes), (error, raw) => {
      if (error) return reject(unreadable(error));
      try {
        resolve(inflated(raw, bytes));
      } catch (short) {
        reject(short);
      }
    });
  });
}

/** One byte more than is wanted, so that the end of the stream is seen without another buffer. */
function sized(bytes: number): { maxOutputLength: number; chunkSize: number } {
  return { maxOutputLength: Math.max(1, bytes), chunkSize: Math.max(64, bytes + 1) };
}

function inflated(raw: Buffer, bytes: number): Buffer {
  if (raw.length !== bytes) throw forged('pages are missing');
  return raw;
}

const unreadable = (error: unknown): OutlastError =>
  error instanceof OutlastError ? error : forged('its pages cannot be read', error);

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw forged('its head cannot be read', error);
  }
}

export function forged(why: string, cause?: unknown): OutlastError {
  return new OutlastError('blob.forged', `A heap image is not what was stored: ${why}.`, { cause });
}
