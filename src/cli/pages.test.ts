import { expect, test } from 'vitest';
import { pages } from './pages.ts';

/** Numbers from 1 to 1,200, as a server gives them: no page is longer than 500. */
async function numbers({ limit, after = '0' }: { limit: number; after?: string }) {
  if (limit > 500) throw new Error('a page of that size is refused');
  const from = Number(after);
  const items = Array.from({ length: Math.min(limit, 1_200 - from) }, (_, i) => from + i + 1);
  return { items, after: items.length === limit ? String(items.at(-1)) : null };
}

test('all of it, each once and in order, in pages that the server gives', async () => {
  for (const limit of [undefined, 1_000, 7]) {
    const all: number[] = [];
    for await (const { items } of pages(numbers, limit)) all.push(...items);
    expect(all).toEqual(Array.from({ length: 1_200 }, (_, i) => i + 1));
  }
});
