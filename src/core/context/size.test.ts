import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../limits.ts';
import type { Item } from '../state.ts';
import { itemSize, sumSizes } from './size.ts';

const limits: Limits = DEFAULT_LIMITS;
const note = (seq: number): Item => ({
  kind: 'note',
  seq,
  at: 0,
  text: 'x'.repeat(1 + ((seq * 37) % 900)),
  whole: { seq, from: 0 },
});

function oneByOne(items: readonly Item[], of: Limits): { readonly tokens: number; readonly bytes: number } {
  const sizes = items.map((item) => itemSize(item, of));
  const total = (key: 'tokens' | 'bytes'): number => sizes.reduce((sum, size) => sum + size[key], 0);
  return { tokens: total('tokens'), bytes: total('bytes') };
}

describe('the size of a transcript', () => {
  it('is that of its items, however it has grown', () => {
    let transcript: readonly Item[] = [];
    for (let seq = 1; seq <= 60; seq++) {
      transcript = [...transcript, note(seq)];
      expect(sumSizes(transcript, limits)).toMatchObject(oneByOne(transcript, limits));
      const half = Math.floor(seq / 2);
      expect(sumSizes(transcript, limits, half)).toMatchObject(oneByOne(transcript.slice(0, half), limits));
    }
  });

  it('begins anew where the oldest items have left, and under other limits', () => {
    const transcript = Array.from({ length: 40 }, (_, at) => note(at + 1));
    sumSizes(transcript, limits);
    const left = transcript.slice(25);
    expect(sumSizes(left, limits)).toMatchObject(oneByOne(left, limits));
    const short = { ...limits, outputChars: 100 };
    expect(sumSizes(transcript, short)).toMatchObject(oneByOne(transcript, short));
    expect(sumSizes(transcript, limits)).toMatchObject(oneByOne(transcript, limits));
    expect(sumSizes([], limits)).toMatchObject({ tokens: 0, bytes: 0 });
  });
});
