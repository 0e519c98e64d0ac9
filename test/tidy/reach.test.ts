// Owns: no dead files. Every file in src is a test or is reached, by imports or worker URLs, from an entry point.
import { test as base, expect } from 'vitest';
import { exists, finding, sourceFiles } from './files.ts';
import { references, resolve } from './syntax.ts';

const entries = [
  'src/index.ts',
  'src/cli/main.ts',
  'src/demo/main.ts',
  'src/demo/repair/main.ts',
  'src/demo/delegate/main.ts',
  'src/demo/repair/days-later.ts',
  'src/break/main.ts',
  'src/testing/index.ts',
  'src/testing/contract/main.ts',
  'src/testing/sim/main.ts',
  'src/testing/talks/main.ts',
  'src/testing/kill/main.ts',
  'src/testing/disk/main.ts',
];
const isServiceEntry = (path: string) => /^src\/services\/[^/]+\/main\.ts$/.test(path);

base('every file is reached from an entry point', ({ skip }) => {
  const missing = entries.filter((path) => !exists(path));
  skip(missing.length > 0, `judged once the entry points exist; missing: ${missing.join(', ')}`);

  const files = sourceFiles();
  const reached = new Set<string>();
  const pending = [...entries, ...files.filter(isServiceEntry)];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (reached.has(path) || !path.endsWith('.ts')) continue;
    reached.add(path);
    for (const { specifier } of references(path)) pending.push(resolve(path, specifier) ?? path);
  }
  const dead = files.filter((path) => !reached.has(path) && !path.endsWith('.d.ts'));
  expect(
    dead.map((path) => finding(path, 1, `is dead: nothing reaches it from ${entries.join(', ')}`)),
  ).toEqual([]);
});
