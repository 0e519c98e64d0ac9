import { expect, it } from 'vitest';
import { seededEntropy } from '../../lib/entropy.ts';
import { fromPlanes, toPlanes } from './planes.ts';

const SQUARE = 256;
const { next } = seededEntropy(1);
// More than is turned at once, and not a multiple of it.
const content = Uint8Array.from({ length: 600 * SQUARE }, () => Math.floor(next() * 256));
const planes = new Uint8Array(content.length);
toPlanes(content, planes);

it('puts the bytes that have the same place in 16 side by side', () => {
  const place = (i: number) => (i % 16) * (content.length / 16) + Math.floor(i / 16);
  expect(content.every((byte, i) => planes[place(i)] === byte)).toBe(true);
});

it('B1 brings them back, whole and in parts, and writes nothing beside', () => {
  for (const step of [content.length, 200 * SQUARE, 8 * SQUARE, SQUARE]) {
    const back = new Uint8Array(content.length + 4);
    for (let from = 0; from < content.length; from += step) fromPlanes(planes, from, step, back, from + 2);
    expect(Buffer.compare(back, Buffer.from([0, 0, ...content, 0, 0]))).toBe(0);
  }
});
