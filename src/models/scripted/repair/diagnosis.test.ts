/** Decisions from outputs that were recorded: one run for each fault, as it was uncovered, and the files as they ship. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { diagnose } from './diagnosis.ts';
import { advance } from './looks.ts';
import { readTap, type TestRun } from './tap.ts';
import type { Verdict } from './verdict.ts';
import type { Call, Made } from './view.ts';

const REPOSITORY = fileURLToPath(new URL('../../../../examples/repair/repository', import.meta.url));

let files: Map<string, string>;
beforeEach(() => {
  const paths = readdirSync(REPOSITORY, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  files = new Map(
    paths.map(({ parentPath, name }) => {
      const at = join(parentPath, name);
      return [at.slice(REPOSITORY.length + 1), readFileSync(at, 'utf8')];
    }),
  );
});

function recorded(n: number): TestRun {
  const run = readTap(readFileSync(new URL(`recorded/run-${n}.tap`, import.meta.url), 'utf8'), '/workspace');
  if (!run) throw new Error('the recorded run is complete');
  return run;
}

/** As the tools of the workspace answer, of the files above. */
function answered({ tool, input }: Call): Pick<Made, 'status' | 'text'> {
  const done = (text: string) => ({ status: 'done' as const, text });
  const path = String(input.path);
  switch (tool) {
    case 'read_file': {
      const text = files.get(path);
      if (text === undefined) return { status: 'failed', text: `There is no file "${path}".` };
      const lines = text.replace(/\n$/, '').split('\n');
      const width = String(lines.length).length;
      return done(lines.map((line, i) => `${String(i + 1).padStart(width)}\t${line}`).join('\n'));
    }
    case 'list_files':
      return done(
        [...files]
          .filter(([one]) => dirname(one) === path)
          .map(([one, text]) => `${one} (${text.length} bytes)`)
          .join('\n'),
      );
    case 'search_files': {
      const isMeant = (one: string) =>
        input.glob === '*.md' ? one.endsWith('.md') : one.startsWith('src/') && one.endsWith('.js');
      const pattern = new RegExp(String(input.pattern));
      const hits = [...files].flatMap(([one, text]) =>
        isMeant(one)
          ? text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${one}:${i + 1}: ${line}`] : []))
          : [],
      );
      return done(hits.join('\n') || 'Nothing matches.');
    }
    default:
      throw new Error(`a diagnosis does not call ${tool}`);
  }
}

/** The calls that it makes, and what it comes to. */
function diagnosed(run: TestRun): { verdict: Verdict; calls: readonly string[] } {
  const made: Made[] = [];
  for (let step = 0; step < 30; step++) {
    const outcome = advance(diagnose(run), made);
    if (outcome.kind === 'done') {
      const calls = made.map(({ tool, input }) => `${tool} ${input.path ?? input.pattern}`);
      return { verdict: outcome.value, calls };
    }
    made.push({ ...outcome.ask, why: null, ...answered(outcome.ask) });
  }
  throw new Error('there was no end to it');
}

function fixed(n: number): void {
  const { verdict } = diagnosed(recorded(n));
  if (verdict.kind !== 'edit') throw new Error(verdict.why);
  const text = files.get(verdict.path) ?? '';
  expect(text.split(verdict.old)).toHaveLength(2);
  files.set(
    verdict.path,
    text.replace(verdict.old, () => verdict.replacement),
  );
}

const reach = (n: number): void => {
  for (let before = 1; before < n; before++) fixed(before);
};

describe('each fault, when the one before it is fixed', () => {
  it.each([
    [1, 'src/dates/period.js', "'../dates/day.js'", "'../dates/days.js'"],
    [2, 'src/dates/period.js', 'day < end', 'day <= end'],
    [3, 'src/money/convert.js', 'Math.trunc(', 'Math.round('],
    [4, 'src/cache/key.js', '[file, month]', '[file, month, currency]'],
    [5, 'src/cli/exit.js', 'usage: 1', 'usage: 2'],
  ])('%i: %s', (n, path, old, replacement) => {
    reach(n);
    expect(diagnosed(recorded(n)).verdict).toMatchObject({
      kind: 'edit',
      path,
      old: expect.stringContaining(old),
      replacement: expect.stringContaining(replacement),
    });
  });

  it('reads what fails before it looks for a fault, and the fault before it edits', () => {
    reach(3);
    expect(diagnosed(recorded(3)).calls).toEqual([
      'read_file test/report.test.js',
      'search_files Math\\.(trunc|floor|ceil)\\(',
      'read_file src/money/convert.js',
    ]);
  });
});

describe('where output and files do not fit together, it edits nothing and says why', () => {
  const none = (why: RegExp) => ({ kind: 'none', why: expect.stringMatching(why) });

  it('no file has a name like the one that is missing', () => {
    files.delete('src/dates/days.js');
    expect(diagnosed(recorded(1)).verdict).toEqual(none(/nothing in src\/dates has a name like day\.js/));
  });

  it('a file has the name and does not export what is wanted', () => {
    files.set('src/dates/days.js', 'export const other = 1;\n');
    expect(diagnosed(recorded(1)).verdict).toEqual(none(/exports daysIn/));
  });

  it('nothing says that the end belongs to the period', () => {
    reach(2);
    const text = files.get('src/dates/period.js') ?? '';
    files.set('src/dates/period.js', text.replace('both belong to it', 'that is all'));
    const says = files.get('src/dates/period.js') ?? '';
    files.set('src/dates/period.js', says.replace('its last', 'the other one'));
    expect(diagnosed(recorded(2)).verdict).toEqual(none(/does not say that the end belongs to it/));
  });

  it('two places could be it', () => {
    reach(3);
    files.set('src/money/other.js', 'export const half = (cents) => Math.floor(cents * 0.5);\n');
    expect(diagnosed(recorded(3)).verdict).toEqual(none(/2 places cut off parts of a product/));
  });

  it('the README promises nothing else', () => {
    reach(5);
    files.set('README.md', '# tally\n');
    expect(diagnosed(recorded(5)).verdict).toEqual(none(/0 constants are 1 and promised to be 2/));
  });

  it('the file was changed, and the assertion stands elsewhere', () => {
    reach(2);
    files.set('test/report.test.js', `\n${files.get('test/report.test.js')}`);
    expect(diagnosed(recorded(2)).verdict).toEqual(none(/is no assertion that I can read/));
  });
});
