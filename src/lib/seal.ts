/**
 * Sealing bytes with a key: AES-256-GCM. Knows nothing of sessions; `aad` is what the bytes belong to.
 *
 * Z1  A sealed box opens only under the same key and the same `aad`, and only whole: else `SealBroken`.
 * Z2  It begins with a version byte and the key's id, both authenticated, so a wrong key is told from a broken box.
 * Z3  Nonces are random, 96 bits. NIST SP 800-38D allows 2^32 boxes a key; a session seals a few thousand.
 *
 * Layout: version (1) · key id (8) · nonce (12) · ciphertext (as long as the bytes) · tag (16).
 */

import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';

export const KEY_BYTES = 32;
/** How much longer a box is than what is in it. */
export const SEAL_BYTES = 37;

export class SealBroken extends Error {
  override readonly name = 'SealBroken';
  /** `form`: not a box of ours. `key`: sealed with another key. `content`: changed, cut, or of something else. */
  readonly why: 'form' | 'key' | 'content';

  constructor(why: SealBroken['why'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.why = why;
  }
}

export interface Sealer {
  /** Names the key without telling it. */
  readonly keyId: string;
  seal(bytes: Uint8Array, aad: string): Uint8Array;
  /** Throws `SealBroken`. */
  open(box: Uint8Array, aad: string): Uint8Array;
}

const VERSION = 1;
const ID = 1;
const NONCE = 9;
const CONTENT = 21;
const TAG_BYTES = 16;

/**
 * Seals and opens with one key of 32 bytes. `random` gives nonces; a simulator may give its own.
 *
 * @example
 * ```ts
 * const sealer = openSeal(key);
 * sealer.open(sealer.seal(image, 'ses_1'), 'ses_1'); // image
 * ```
 */
export function openSeal(
  key: Uint8Array,
  random: (bytes: number) => Uint8Array = (bytes) => randomBytes(bytes),
): Sealer {
  if (key.length !== KEY_BYTES) throw new RangeError(`a key has ${KEY_BYTES} bytes, not ${key.length}`);
  const id = createHash('sha256')
    .update('outlast key id')
    .update(key)
    .digest()
    .subarray(0, NONCE - ID);
  const head = Buffer.concat([Buffer.from([VERSION]), id]);
  const keyId = id.toString('hex');

  return {
    keyId,

    seal(bytes, aad) {
      const nonce = random(CONTENT - NONCE);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(Buffer.concat([head, Buffer.from(aad)]));
      const content = cipher.update(bytes);
      cipher.final();
      return plain(Buffer.concat([head, nonce, content, cipher.getAuthTag()]));
    },

    open(box, aad) {
      if (box.length < SEAL_BYTES || box[0] !== VERSION)
        throw new SealBroken('form', 'this is not a sealed box');
      const found = Buffer.from(box.subarray(ID, NONCE)).toString('hex');
      if (found !== keyId) {
        throw new SealBroken('key', `sealed with another key (${found}) than this one (${keyId})`);
      }
      const tag = box.length - TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(NONCE, CONTENT));
      decipher.setAAD(Buffer.concat([head, Buffer.from(aad)]));
      decipher.setAuthTag(box.subarray(tag));
      try {
        // The mode of the cipher is a stream: all comes from `update`, and is not copied again.
        const content = decipher.update(box.subarray(CONTENT, tag));
        decipher.final();
        return plain(content);
      } catch (cause) {
        throw new SealBroken('content', 'the sealed box was changed, or belongs to something else', cause);
      }
    },
  };
}

/** A key of its own for one thing, which tells nothing of the key that it comes from. */
export const keyFor = (key: Uint8Array, about: string): Uint8Array =>
  plain(createHmac('sha256', key).update(about).digest());

/** The same bytes, not copied, as what the ports speak of. */
function plain({ buffer, byteOffset, length }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}
