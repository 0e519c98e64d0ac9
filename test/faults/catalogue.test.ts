/** The table in README.md says the truth about the tests beside it. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('./', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

it('names the files of each id, and each id has its row', () => {
  const found = new Map<string, string[]>();
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.test.ts')) continue;
    const ids = [...read(name).matchAll(/(?<=['`])B\d{3}(?= )/g)].map(([id]) => id);
    for (const id of new Set(ids)) found.set(id, [...(found.get(id) ?? []), name]);
  }
  const rows = [...read('README.md').matchAll(/^\| (B\d{3}) \|[^|]*\| (.*) \|$/gm)];
  const claimed = rows.flatMap(([, id, where = '']) => {
    const files = [...where.matchAll(/`(\w+\.test\.ts)`/g)].flatMap(([, file]) => file ?? []);
    const isHere = files.length > 0 && !where.includes('`src/store');
    return id && isHere ? [[id, files] as const] : [];
  });
  expect(new Map(claimed)).toEqual(new Map([...found].sort()));
  expect(new Set(rows.map(([, id]) => id)).size).toBe(rows.length);
});
