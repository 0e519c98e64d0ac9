// Owns: what must be read to trust the product stays small enough to be read, and ARCHITECTURE.md says how large each
// part of `src/core` is.
//
// What stands in src/core itself is the machine: an evening of reading for one person, some 4,000 lines with their
// comments. Heaps are the one subject that reaches into it, since promises of code are answered from the ledger: with
// them it is 4,500. A subject that plugs in costs nothing here but its line in the lists of event, state, evolve and next.
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { finding, sourceFiles, textOf } from './files.ts';

const MACHINE = 4_000;
const WITH_HEAPS = 4_500;
/** The table need not be touched with each line: it is about this right. */
const ABOUT = 100;

const inCore = sourceFiles().filter((path) => path.startsWith('src/core/'));
const lines = new Map<string, number>();
for (const path of inCore) {
  const folder = dirname(path).slice('src/'.length);
  lines.set(folder, (lines.get(folder) ?? 0) + (textOf(path)?.trimEnd().split('\n').length ?? 0));
}
const linesOf = (folder: string): number => lines.get(folder) ?? 0;

test(`the machine is at most ${MACHINE} lines, with heaps ${WITH_HEAPS}`, () => {
  expect(linesOf('core')).toBeLessThanOrEqual(MACHINE);
  expect(linesOf('core') + linesOf('core/heap')).toBeLessThanOrEqual(WITH_HEAPS);
});

test('ARCHITECTURE.md says of each folder how large it is', () => {
  const rows = [...(textOf('ARCHITECTURE.md') ?? '').matchAll(/^\| `src\/(core[a-z/]*)` \| ([\d,]+) \|/gm)];
  const told = new Map(rows.map(([, folder = '', count = '']) => [folder, Number(count.replace(',', ''))]));
  expect([...told.keys()].sort()).toEqual([...lines.keys()].sort());
  const wrong = [...told].filter(([folder, count]) => Math.abs(linesOf(folder) - count) > ABOUT);
  expect(
    wrong.map(([folder, count]) =>
      finding('ARCHITECTURE.md', 1, `says ${count} for ${folder}: it has ${linesOf(folder)}`),
    ),
  ).toEqual([]);
});

test('each folder of src/core is a subject with something that it does to the state', () => {
  const strange = inCore.filter((path) => {
    const [, , folder, file] = path.split('/');
    return file !== undefined && !inCore.some((other) => other === `src/core/${folder}/evolve.ts`);
  });
  expect(strange.map((path) => finding(path, 1, 'is in a folder that does nothing to the state'))).toEqual(
    [],
  );
});
