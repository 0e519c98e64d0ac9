/** How a call and its answer travel: a line of JSON, and behind it bytes as they are. */

import { OutlastError } from '../core/error.ts';
import { type Json, parseJson } from '../lib/json.ts';

export interface Frame {
  readonly head: Json;
  readonly bytes: Uint8Array;
}

export const FRAME_TYPE = 'application/x-outlast-frame';

export const NO_BYTES: Uint8Array = new Uint8Array();

export function toFrame(head: unknown, bytes: Uint8Array = NO_BYTES): Uint8Array<ArrayBuffer> {
  const line = new TextEncoder().encode(`${JSON.stringify(head)}\n`);
  const data = new Uint8Array(line.length + bytes.length);
  data.set(line);
  data.set(bytes, line.length);
  return data;
}

export function fromFrame(data: Uint8Array): Frame {
  const end = data.indexOf(10);
  const head = end < 0 ? undefined : parseJson(new TextDecoder().decode(data.subarray(0, end)));
  if (head === undefined) throw new OutlastError('request.invalid', 'A frame begins with a line of JSON.');
  return { head, bytes: data.subarray(end + 1) };
}
