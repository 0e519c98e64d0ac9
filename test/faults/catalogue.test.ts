/** The table in README.md says the truth: about the tests beside it, and about those that stand elsewhere. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('./', import.meta.url);
const root = new URL('../../', folder);
const read = (name: string, from = folder): string => readFileSync(new URL(name, from), 'utf8');

interface Row {
  readonly id: string;
  /** Files beside this one, and files by their path in the repository. */
  readonly here: readonly string[];
  readonly elsewhere: readonly string[];
}

const rows = [...read('README.md').matchAll(/^\| (B\d{3}) \|[^|]*\| (.*) \|$/gm)].map(
  ([, id = '', where = '']): Row => {
    const files = [...where.matchAll(/`([\w./-]+\.ts)`/g)].flatMap(([, file]) => file ?? []);
    return {
      id,
      here: files.filter((file) => !file.includes('/')),
      elsewhere: files.filter((file) => file.includes('/')),
    };
  },
);

/** The ids in the names of its tests. */
const idsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/(?<=['`](?:B\d{3} )*)B\d{3}(?=[ :])/g)].map(([id]) => id));

it('names the files of each id, and each id has its row', () => {
  const found = new Map<string, string[]>();
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.test.ts')) continue;
    for (const id of idsIn(read(name))) found.set(id, [...(found.get(id) ?? []), name]);
  }
  const claimed = rows.flatMap(({ id, here }) => (here.length > 0 ? [[id, here] as const] : []));
  expect(new Map(claimed)).toEqual(new Map([...found].sort()));
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
});

it('names no file elsewhere that has not the id, and leaves no row without a test', () => {
  const missing = rows.flatMap(({ id, elsewhere }) =>
    elsewhere.filter((path) => !idsIn(read(path, root)).has(id)).map((path) => `${id}: ${path}`),
  );
  expect(missing).toEqual([]);
  const bare = rows.filter(({ here, elsewhere }) => here.length + elsewhere.length === 0);
  expect(bare.map(({ id }) => id)).toEqual([]);
});
