import { expect, it } from 'vitest';
import { seededEntropy } from '../../lib/entropy.ts';
import { fromPlanes, toPlanes } from './planes.ts';

const { next } = seededEntropy(1);
const content = Int32Array.from({ length: 256 }, () => Math.floor(next() * 2 ** 32));
const planes = new Int32Array(content.length);
toPlanes(content, planes);

it('puts the bytes that have the same place in 16 side by side', () => {
  const [before, after] = [content, planes].map(({ buffer }) => Buffer.from(buffer)) as [Buffer, Buffer];
  const place = (i: number) => (i % 16) * (before.length / 16) + Math.floor(i / 16);
  expect([...before].every((byte, i) => after[place(i)] === byte)).toBe(true);
});

it('B1 brings them back, whole and in parts, and writes nothing beside', () => {
  for (const step of [256, 128, 16]) {
    const back = new Int32Array(content.length + 4);
    for (let from = 0; from < content.length; from += step) fromPlanes(planes, from, step, back, from + 2);
    expect([...back]).toEqual([0, 0, ...content, 0, 0]);
  }
});
