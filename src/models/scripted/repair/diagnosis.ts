/**
 * A failing test run → one edit, or why none is known. Each rule goes from what the tests say and what stands in the files;
 * where these do not fit together it says so and edits nothing.
 */

import { boundary, exitCode, rounding, staleValue } from './faults.ts';
import { list, type Plan, read } from './looks.ts';
import type { Failure, Missing, TestRun } from './tap.ts';
import { none, type Verdict } from './verdict.ts';

export function* diagnose({ missing, failures }: TestRun): Plan<Verdict> {
  const [module] = missing;
  if (module) return yield* missingModule(module);
  const reasons: string[] = [];
  for (const failure of failures) {
    const verdict = yield* oneFailure(failure);
    if (verdict.kind === 'edit') return verdict;
    reasons.push(`"${failure.name}": ${verdict.why}`);
  }
  return none(reasons.join('; ') || 'the output names no failure');
}

/** An assertion about one number: what it is about stands in the test. */
function* oneFailure(failure: Failure): Plan<Verdict> {
  const { file, line } = failure;
  const expected = numberIn(failure.expected);
  const actual = numberIn(failure.actual);
  if (file === null || expected === null || actual === null || failure.operator !== 'strictEqual')
    return none('it compares more than a number, and I know rules for numbers alone');
  const test = yield* read(file, `"${failure.name}" fails at ${file}:${line}; I read what it asserts there.`);
  const lines = (test ?? '').split('\n');
  const [, subject] = /assert\.\w+\((.+), -?[\d_]+\);?\s*$/.exec(lines[line - 1] ?? '') ?? [];
  if (subject === undefined) return none(`${file}:${line} is no assertion that I can read`);
  const about = { subject, expected, actual, name: failure.name };
  if (/\.(?:code|status|exitCode)$/.test(subject)) return yield* exitCode(about);
  if (/\.(?:count|length|size)$/.test(subject) && expected - actual === 1) return yield* boundary(about);
  if (/cents|amount/i.test(subject) && Math.abs(expected - actual) === 1) return yield* rounding(about);
  const earlier = numbersBefore(lines, line);
  if (earlier.includes(actual)) return yield* staleValue(about);
  return none(`${subject} is ${actual} instead of ${expected}, and no rule of mine fits that`);
}

function* missingModule({ module, from }: Missing): Plan<Verdict> {
  const source = yield* read(from, `${from} imports ${module}, which is not there; I read the import.`);
  const name = nameOf(module);
  const line = (source ?? '').split('\n').find((one) => one.includes(`/${name}'`) && /\bfrom\b/.test(one));
  const imported = /\{\s*([\w\s,]+)\}/
    .exec(line ?? '')?.[1]
    ?.split(',')
    .map((one) => one.trim());
  if (line === undefined || !imported) return none(`no import of ${name} stands in ${from}`);
  const folder = module.slice(0, module.lastIndexOf('/'));
  const there = yield* list({ path: folder }, `I look at what ${folder} has instead.`);
  const near = there.filter((path) => distance(nameOf(path), name) <= 2);
  for (const path of near) {
    const text = (yield* read(path, `${path} has nearly that name; I read what it exports.`)) ?? '';
    if (!imported.every((one) => new RegExp(`^export .*\\b${one}\\b`, 'm').test(text))) continue;
    return {
      kind: 'edit',
      path: from,
      old: line,
      replacement: line.replace(`/${name}'`, `/${nameOf(path)}'`),
      why: `the import names ${name}, and what it wants (${imported.join(', ')}) is exported by ${nameOf(path)}`,
    };
  }
  return none(`nothing in ${folder} has a name like ${name} and exports ${imported.join(', ')}`);
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const numberIn = (text: string | null): number | null =>
  text !== null && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : null;

/** What the same test has expected before this line. */
function numbersBefore(lines: readonly string[], line: number): readonly number[] {
  const start = lines.slice(0, line - 1).findLastIndex((one) => /^test\(/.test(one));
  const before = lines.slice(Math.max(0, start), line - 1);
  return before.flatMap((one) => {
    const [, number] = /, (-?\d[\d_]*)\);?\s*$/.exec(one) ?? [];
    return number === undefined ? [] : [Number(number.replaceAll('_', ''))];
  });
}

/** Letters to insert, remove or change (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    let before = row[0] as number;
    row = row.map((above, j) => {
      if (j === 0) return i + 1;
      const cost = letter === b[j - 1] ? before : before + 1;
      before = above;
      return Math.min(cost, above + 1);
    });
    for (let j = 1; j < row.length; j++) row[j] = Math.min(row[j] as number, (row[j - 1] as number) + 1);
  }
  return row[b.length] as number;
}
