// Owns: the bench room does what its README says: the names are the same in the list, in the README, in what is printed and
// in the results that are committed. No figure is judged here; a test that knows a time fails on a slow day.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const namesOf = async (suite: string): Promise<readonly string[]> =>
  ((await import(new URL(`./${suite}.mjs`, import.meta.url).href)) as { NAMES: readonly string[] }).NAMES;
const SUITES = { steps: await namesOf('steps'), workspace: await namesOf('workspace') };
const NAMES = SUITES.steps;

function bench(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('main.mjs'), ...args], {
    encoding: 'utf8',
    timeout: 25_000,
  });
  return { status, stdout, stderr };
}

test('the README explains every figure, and none that is not there', () => {
  const rows = readFileSync(at('README.md'), 'utf8').matchAll(/^\| `(\w+)` \|/gm);
  expect([...rows].map(([, name]) => name).sort()).toEqual(Object.values(SUITES).flat().sort());
});

test.each(Object.entries(SUITES))(
  'the committed results of %s have every figure, and name no machine',
  (suite, names) => {
    const results = readdirSync(at('results')).filter((name) => name.startsWith(`${suite}-`));
    expect(results.length).toBeGreaterThan(0);
    for (const name of results) {
      const { machine, figures } = JSON.parse(readFileSync(at(`results/${name}`), 'utf8'));
      expect(Object.keys(figures).sort(), name).toEqual([...names].sort());
      expect(Object.keys(machine).sort(), name).toEqual(['cores', 'date', 'driver', 'node', 'platform']);
    }
  },
);

test('--json ends with one object of the figures that were asked for', () => {
  const { status, stdout, stderr } = bench('steps', '--json', '--quick', '--only', 'cellCommitMs');
  expect(status, stderr).toBe(0);
  const figures = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(Object.keys(figures)).toEqual(['cellCommitMs', 'cellCommitBytes']);
  for (const value of Object.values(figures)) expect(value).toBeGreaterThan(0);
});

test('a small workspace is kept, and brought back, as the figures say', () => {
  const { status, stdout, stderr } = bench('workspace', '--json', '--quick');
  expect(status, stderr).toBe(0);
  const figures = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(Object.keys(figures)).toEqual([...SUITES.workspace]);
  // Five of two hundred files, and the pages that name them.
  expect(figures.filesFiveBytes).toBeLessThan(figures.filesFirstBytes / 20);
});

test('a figure that is not there is refused with the ones that are', () => {
  const { status, stderr } = bench('steps', '--only', 'stepsPerFortnight');
  expect(status).toBe(2);
  for (const name of NAMES) expect(stderr).toContain(name);
});
