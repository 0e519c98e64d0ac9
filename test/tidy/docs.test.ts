// Owns: the tables in the docs name every event kind and every error code, and none that is not there.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/core/error.ts';
import { AUTHORITY } from '../../src/core/event.ts';

const rows = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''));

test('docs/reference/events.md has every kind, with who may append it', () => {
  expect(rows('docs/reference/events.md').sort()).toEqual(Object.keys(AUTHORITY).sort());
  const text = readFileSync('docs/reference/events.md', 'utf8');
  for (const [kind, authority] of Object.entries(AUTHORITY)) {
    const line = text.split('\n').find((row) => row.startsWith('|') && row.includes(`\`${kind}\``));
    expect(line?.split('|')[2]?.trim(), kind).toBe(authority);
  }
});

test('docs/reference/errors.md has every code', () => {
  expect(rows('docs/reference/errors.md').sort()).toEqual(Object.keys(ERRORS).sort());
});
