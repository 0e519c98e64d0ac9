import { expect, it } from 'vitest';
import { discard } from './discard.ts';

it('frees what is large, as often as it is asked', async () => {
  for (let i = 0; i < 3; i++) {
    const { buffer } = new Uint8Array(100_000);
    discard(new Uint8Array(buffer, 4));
    expect(buffer.byteLength).toBe(0);
    await new Promise(setImmediate); // The port learns that nobody reads it.
  }
});

it('leaves alone what may lie in a buffer with others, and what belongs to several threads', () => {
  const small = new Uint8Array(1_000);
  const shared = new Uint8Array(new SharedArrayBuffer(100_000));
  for (const bytes of [small, shared]) discard(bytes);
  expect([small.byteLength, shared.byteLength]).toEqual([1_000, 100_000]);
});
