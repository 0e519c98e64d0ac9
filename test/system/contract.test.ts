/** The resume contract by its command, over SQLite with real kills; and that what is published has its nine clauses. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

interface Verdict {
  readonly clauses: number;
  readonly passed: number;
  readonly version: string;
  readonly settings: readonly string[];
  readonly date: string;
  readonly list: readonly { readonly name: string; readonly passed: boolean; readonly detail: string }[];
}

function run(...args: readonly string[]) {
  const entry = at('dist/testing/contract/main.js');
  return spawnSync(process.execPath, [entry, ...args], { encoding: 'utf8', timeout: 110_000 });
}

let names: readonly string[] = [];

test('Outlast keeps all nine', { timeout: 120_000 }, () => {
  const { status, stdout, stderr } = run('--json');
  const verdict = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Verdict;
  expect(verdict.list.filter(({ passed }) => !passed)).toEqual([]);
  expect([verdict.clauses, verdict.passed, verdict.list.length]).toEqual([9, 9, 9]);
  expect(status, stderr).toBe(0);
  names = verdict.list.map(({ name }) => name);
});

test('what is published is of these clauses, adds up, and stands in the page with its date', () => {
  const files = readdirSync(at('bench/contract')).filter((name) => name.endsWith('.json'));
  expect(files.length).toBeGreaterThanOrEqual(2);
  const page = readFileSync(at('docs/design/contract.md'), 'utf8');
  for (const file of files) {
    const verdict = JSON.parse(readFileSync(at(`bench/contract/${file}`), 'utf8')) as Verdict;
    expect(
      verdict.list.map(({ name }) => name),
      file,
    ).toEqual(names);
    expect(verdict.list.filter(({ passed }) => passed).length, file).toBe(verdict.passed);
    expect(verdict.settings.length, file).toBeGreaterThan(0);
    for (const said of [verdict.date, verdict.version, `${verdict.passed} of ${verdict.clauses}`]) {
      expect(page, file).toContain(said);
    }
  }
});

test('a clause that is not there is refused, with how many there are', () => {
  const { status, stderr } = run('--only', '10');
  expect(status).toBe(2);
  expect(stderr).toContain('1 to 9');
});
