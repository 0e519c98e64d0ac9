import { expect, it } from 'vitest';
import { lanes, MOST_BYTES, rowAt } from './lanes.ts';

it('mixes as many bytes as it is told, and none beside', () => {
  const { memory, mix } = lanes();
  for (const bytes of [16, 4_096, MOST_BYTES]) {
    const [into, from] = [3, 7].map((by) => Uint8Array.from({ length: bytes + 16 }, (_, i) => (i * by) >> 2));
    memory.set((into as Uint8Array).subarray(0, Math.min(bytes + 16, MOST_BYTES)));
    memory.set(from as Uint8Array, rowAt(0));
    mix(bytes);
    const wanted = Uint8Array.from(
      { length: bytes },
      (_, i) => (into?.[i] as number) ^ (from?.[i] as number),
    );
    expect(Buffer.compare(memory.subarray(0, bytes), wanted)).toBe(0);
    if (bytes < MOST_BYTES) expect(memory[bytes]).toBe(into?.[bytes]);
  }
});
