/** An excerpt of a file of any length: as much of its beginning and its end, cut where characters are. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Excerpt } from './port.ts';

/** Bytes of an excerpt, if nobody says otherwise. */
export const EXCERPT_BYTES = 12_000;

/** `name` is what it is called inside. */
export function excerptOf(path: string, name: string, most = EXCERPT_BYTES): Excerpt {
  const nothing: Excerpt = { head: '', tail: '', bytes: 0, omitted: 0, file: name };
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return nothing;
  }
  try {
    const bytes = fstatSync(file).size;
    if (bytes <= most) return { ...nothing, head: textOf(piece(file, 0, bytes)), bytes };
    const first = wholeEnd(piece(file, 0, Math.ceil(most * 0.4)));
    const want = most - first.length;
    const last = wholeStart(piece(file, bytes - want, want));
    const omitted = bytes - first.length - last.length;
    return { ...nothing, head: textOf(first), tail: textOf(last), bytes, omitted };
  } finally {
    closeSync(file);
  }
}

function piece(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, at));
}

/** What is no UTF-8 becomes a replacement character; NUL is taken for one, too, since no database likes it. */
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replaceAll('\0', '\ufffd');

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Without the beginning of a character that would go on behind it. */
function wholeEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Without the rest of a character that began before it. */
function wholeStart(bytes: Buffer): Buffer {
  let skipped = 0;
  while (skipped < 3 && isContinuation(bytes[skipped])) skipped++;
  return bytes.subarray(skipped);
}
