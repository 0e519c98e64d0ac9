import { describe, expect, it } from 'vitest';
import { KEY_BYTES, openSeal, SEAL_BYTES, SealBroken } from './seal.ts';

const key = (fill: number) => new Uint8Array(KEY_BYTES).fill(fill);
const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => index);

/** Why a box does not open; null when it does. */
function broken(work: () => unknown): SealBroken['why'] | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof SealBroken) return error.why;
    throw error;
  }
}

describe('seal', () => {
  const sealer = openSeal(key(1));

  it('Z1 opens what it sealed, whatever the size', () => {
    for (const length of [0, 1, 1000, 100_000]) {
      const box = sealer.seal(bytes(length), 'a');
      expect(box.constructor).toBe(Uint8Array);
      expect(box.length).toBe(length + SEAL_BYTES);
      expect(Buffer.compare(sealer.open(box, 'a'), bytes(length))).toBe(0);
    }
  });

  it('Z1 opens for nothing but what it was sealed for', () => {
    const box = sealer.seal(bytes(10), 'heap:ses_a');
    expect(broken(() => sealer.open(box, 'heap:ses_b'))).toBe('content');
    expect(broken(() => sealer.open(box, ''))).toBe('content');
  });

  it('Z1 notices every changed and every missing byte', () => {
    const box = sealer.seal(bytes(10), 'a');
    for (let at = 0; at < box.length; at++) {
      const changed = box.slice();
      changed[at] = (changed[at] as number) ^ 1;
      expect(broken(() => sealer.open(changed, 'a'))).not.toBeNull();
      expect(broken(() => sealer.open(box.subarray(0, at), 'a'))).not.toBeNull();
    }
  });

  it('Z2 tells a wrong key from a broken box', () => {
    const box = openSeal(key(2)).seal(bytes(10), 'a');
    expect(broken(() => sealer.open(box, 'a'))).toBe('key');
    expect(broken(() => sealer.open(bytes(100), 'a'))).toBe('form');
    expect(() => sealer.open(box, 'a')).toThrow(`another key (${openSeal(key(2)).keyId})`);
  });

  it('Z3 never uses a nonce twice, and shows nothing of what is in the box', () => {
    const boxes = Array.from({ length: 100 }, () => Buffer.from(sealer.seal(bytes(50), 'a')));
    expect(new Set(boxes.map((box) => box.toString('hex', 9, 21))).size).toBe(100);
    expect(boxes.some((box) => box.includes(Buffer.from(bytes(50))))).toBe(false);
  });

  it('opens a box of version 1 for ever', () => {
    const fixed = openSeal(key(7), (length) => new Uint8Array(length).fill(9));
    const box = '01e85cdb4acc69b10d09090909090909090909090948f0f0f8df83b5b60729d3e6dccb7b6510e9b762e6c09e';
    expect(Buffer.from(fixed.seal(Buffer.from('outlast'), 'a')).toString('hex')).toBe(box);
    expect(Buffer.from(fixed.open(Buffer.from(box, 'hex'), 'a')).toString()).toBe('outlast');
  });

  it('refuses a key of another length', () => {
    expect(() => openSeal(new Uint8Array(16))).toThrow(RangeError);
  });
});
