/** Randomness as a port: identifiers of sessions and seeds of sandboxes. */

import { randomBytes } from 'node:crypto';

export interface Entropy {
  /** `n` lower-case letters and digits (5 bits each), unguessable on a real machine. */
  token(n: number): string;
  /** A 32-bit seed. */
  seed(): number;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export const systemEntropy: Entropy = {
  token: (n) => Array.from(randomBytes(n), (byte) => ALPHABET[byte & 31]).join(''),
  seed: () => randomBytes(4).readUInt32LE(0),
};

/** A deterministic source for the simulator and for tests (mulberry32). */
export function seededEntropy(seed: number): Entropy & { next(): number } {
  let x = seed | 0;
  const next = (): number => {
    x = (x + 0x6d2b79f5) | 0;
    let t = Math.imul(x ^ (x >>> 15), 1 | x);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    token: (n) => Array.from({ length: n }, () => ALPHABET[Math.floor(next() * 32)]).join(''),
    seed: () => Math.floor(next() * 4294967296),
  };
}
