/**
 * The bytes of an image: a head in JSON, then the pages, deflated.
 *
 * J1  The pages are the XOR against something: the beginning of the build in a base, the image before in a delta. Pages
 *     that are the same there are left out. A base also says where things lie.
 * J2  Decoding believes nothing: sizes and numbers are checked before they are used, and a bad image is `blob.forged`.
 */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { OutlastError } from '../../core/error.ts';
import { isRecord } from '../../lib/json.ts';
import type { Layout } from './engine.ts';
import { HELPERS, PROTOCOL } from './guest/boot.ts';
import { PAGE } from './pages.ts';

const MAGIC = 0x4c54554f; // "OUTL"
const FORMAT = 1;
const MAX_MEMORY = 2 ** 32;
const INFLATE_BYTES = 1 << 20;

export interface ImageHead {
  readonly form: 'base' | 'delta';
  readonly engine: string;
  /** Bytes of the engine's memory. */
  readonly memoryBytes: number;
  /** In a base only. */
  readonly layout: Layout | null;
}

export interface DecodedImage extends ImageHead {
  readonly pages: readonly number[];
  /** The content of the pages, one after the other. */
  readonly content: Uint8Array;
}

/** Encodes an image; `write` puts the content of the pages, one after the other, into what it is given. */
export function encodeImage(
  head: ImageHead,
  pages: readonly number[],
  write: (content: Uint8Array) => void,
): Uint8Array {
  const json = Buffer.from(
    JSON.stringify({ format: FORMAT, protocol: PROTOCOL, pages: pages.length, ...head }),
  );
  const raw = Buffer.alloc(pages.length * (4 + PAGE));
  for (const [i, page] of pages.entries()) raw.writeUInt32LE(page, i * 4);
  write(raw.subarray(pages.length * 4));
  const start = Buffer.alloc(8);
  start.writeUInt32LE(MAGIC, 0);
  start.writeUInt32LE(json.length, 4);
  // Level 1: higher levels cost many times the time for a tenth of the size, and a delta is nearly all zeros.
  return Buffer.concat([start, json, deflateRawSync(raw, { level: 1 })]);
}

export function decodeImage(data: Uint8Array): DecodedImage {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length < 8 || bytes.readUInt32LE(0) !== MAGIC) throw forged('it does not begin like one');
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw forged('it is cut off');
  const { head, count } = readHead(bytes.subarray(8, end));
  const raw = inflate(bytes.subarray(end), count * (4 + PAGE));
  const pages = Array.from({ length: count }, (_, i) => raw.readUInt32LE(i * 4));
  const isSorted = pages.every((page, i) => i === 0 || page > (pages[i - 1] as number));
  if (!isSorted || (pages.at(-1) ?? 0) >= head.memoryBytes / PAGE)
    throw forged('a page lies outside of memory');
  return { ...head, pages, content: raw.subarray(count * 4) };
}

function readHead(bytes: Buffer): { readonly head: ImageHead; readonly count: number } {
  const read = parse(bytes);
  if (!isRecord(read) || read.format !== FORMAT) throw forged('its format is not known');
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
  return { head: { form, engine, memoryBytes, layout }, count: pages };
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

function inflate(bytes: Buffer, length: number): Buffer {
  const chunkSize = Math.min(INFLATE_BYTES, Math.max(64, length));
  try {
    const raw = inflateRawSync(bytes, { maxOutputLength: Math.max(1, length), chunkSize });
    // Pages are added word by word, so the first must lie on a word's edge.
    if (raw.length === length)
      return raw.byteOffset % 4 === 0 ? raw : Buffer.from(new Uint8Array(raw).buffer);
  } catch (error) {
    throw forged('its pages cannot be read', error);
  }
  throw forged('pages are missing');
}

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
