/** Bytes made smaller where that helps: a byte that says how, and the bytes or their deflated form. */

import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';

const PLAIN = 0;
const DEFLATED = 1;
/** The fastest: on text and code it saves nearly what the slowest does, in a tenth of the time. */
const LEVEL = { level: 1 };
/** Deflating this much is a matter of microseconds; more goes to another thread. */
const AT_ONCE = 64 * 1024;

const deflating = promisify(deflateRaw);

export const packed = (bytes: Uint8Array): Uint8Array => smaller(bytes, deflateRawSync(bytes, LEVEL));

/** The same without holding others up. */
export async function packing(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length < AT_ONCE
    ? packed(bytes)
    : smaller(
        bytes,
        await (deflating as (data: Uint8Array, options: object) => Promise<Buffer>)(bytes, LEVEL),
      );
}

export function unpacked(data: Uint8Array): Uint8Array {
  const content = data.subarray(1);
  return data[0] === DEFLATED ? plain(inflateRawSync(content)) : content;
}

function smaller(bytes: Uint8Array, deflated: Uint8Array): Uint8Array {
  const isWorthIt = deflated.length < bytes.length;
  const content = isWorthIt ? deflated : bytes;
  const data = new Uint8Array(content.length + 1);
  data[0] = isWorthIt ? DEFLATED : PLAIN;
  data.set(content, 1);
  return data;
}

const plain = ({ buffer, byteOffset, length }: Buffer): Uint8Array =>
  new Uint8Array(buffer, byteOffset, length);
