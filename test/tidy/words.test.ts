// Owns: what must not stand in a tracked file, and how long a source file may be.
// The patterns are written so that they do not match themselves.
import { expect, test } from 'vitest';
import { finding, matches, sourceFiles, textOf, trackedFiles } from './files.ts';

const maxLines = 500;

interface Ban {
  readonly what: string;
  readonly pattern: RegExp;
  readonly where: RegExp;
}

const code = /\.(ts|mjs|js|html|css|sh|sql)$/;

const bans: readonly Ban[] = [
  { what: 'leaves work undone: do it, or file it', pattern: /\b(TOD[O]|FIXM[E]|XX[X])\b/, where: /./ },
  { what: 'gives up the type: say what it is', pattern: /\bas any\s*([;,)\].}>[]|$)/, where: /\.ts$/ },
  { what: 'silences the compiler', pattern: /@ts-(ignor[e]|nochec[k])/, where: code },
  {
    what: 'leaves the other tests out',
    pattern: /\b(it|test|describe|suite)(\.\w+)*\.only\(/,
    where: /\.ts$/,
  },
  {
    what: 'names a registry host: leave it to the user',
    pattern: /registry\.(npmjs|yarnpkg|npmmirror)/,
    where: /./,
  },
  { what: 'names a folder of one machine', pattern: /(?<![\w.~-])\/(work|root|home|Users)\//, where: /./ },
];

for (const { what, pattern, where } of bans) {
  test(`no file ${what}`, () => {
    const files = trackedFiles().filter((path) => where.test(path));
    expect(files.flatMap((path) => matches(path, pattern, what))).toEqual([]);
  });
}

test('the lock names no host', () => {
  expect(matches('package-lock.json', /"resolved"/, 'says where a package came from')).toEqual([]);
});

test(`no source file is over ${maxLines} lines`, () => {
  const long = sourceFiles({ tests: true }).flatMap((path) => {
    const lines = textOf(path)?.trimEnd().split('\n').length ?? 0;
    return lines > maxLines
      ? [finding(path, lines, `is longer than ${maxLines} lines: find the two ideas in it`)]
      : [];
  });
  expect(long).toEqual([]);
});
