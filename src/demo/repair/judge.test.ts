/** The judge must be able to find an answer untrue. */

import { expect, it } from 'vitest';
import type { Event } from '../../core/event.ts';
import { duplicates, isRecalled, untrueClaims } from './judge.ts';

let seq = 0;
const event = (body: object): Event => ({ seq: ++seq, at: 0, ...body }) as unknown as Event;

/** A call with its settlement, and what it left in the files. */
function call(tool: string, args: Record<string, string>, result: unknown, digest = JSON.stringify(args)) {
  const effect = `e${seq}`;
  const path = tool === 'edit_file' ? [{ path: args.path, change: 'changed' }] : [];
  return [
    event({ kind: 'effect.intended', effect, tool, args, digest, origin: { by: 'call', call: 'c1' } }),
    event({ kind: 'effect.settled', effect, attempt: 1, outcome: { status: 'done', result } }),
    ...(path.length === 0
      ? []
      : [event({ kind: 'workspace.committed', why: 'call', changed: { paths: path } })]),
  ];
}

const edit = () =>
  call(
    'edit_file',
    { path: 'src/a.js', old_string: 'i < n', new_string: 'i <= n' },
    'Edited: src/a.js, line 3.',
  );
const tests = (passed: number, failed: number) =>
  call('shell', { command: 'node --test' }, { exitCode: 0, output: `# pass ${passed}\n# fail ${failed}\n` });

const ANSWER = 'The tests pass: all 7 of them.\n1. `src/a.js`: the end. Changed `i < n` to `i <= n` [#2]';

const FILES = new Set(['src/a.js']);
const judged = (answer: string, log: readonly Event[], files: ReadonlySet<string> = FILES) =>
  untrueClaims(answer, seq + 1, log, files);
const made = (...parts: (() => Event[])[]): Event[] => {
  seq = 0;
  return parts.flatMap((part) => part());
};

it('what the log has is true', () => {
  expect(
    judged(
      ANSWER,
      made(edit, () => tests(7, 0)),
    ),
  ).toEqual([]);
});

it.each([
  ['a file that nobody changed', ANSWER.replaceAll('src/a.js', 'src/b.js'), () => tests(7, 0)],
  ['another change than the one that was made', ANSWER.replace('i <= n', 'i < n + 1'), () => tests(7, 0)],
  ['an event that is not there', ANSWER.replace('#2', '#99'), () => tests(7, 0)],
  ['another number of tests', ANSWER, () => tests(6, 0)],
  ['tests that failed', ANSWER, () => tests(7, 1)],
  ['tests that nobody ran', ANSWER, () => []],
])('finds %s', (_, answer, run) => {
  expect(judged(answer, made(edit, run))).not.toEqual([]);
});

it('finds tests that ran before the last change', () => {
  expect(
    judged(
      ANSWER,
      made(() => tests(7, 0), edit),
    ),
  ).toContain('the tests passed after the last change');
});

it('finds a change that does not stand in the files', () => {
  const log = made(edit, () => tests(7, 0));
  expect(judged(ANSWER, log, new Set())).toEqual(['src/a.js was changed']);
});

it('what an answer says comes before it', () => {
  const log = made(edit, () => tests(7, 0));
  expect(untrueClaims(ANSWER, 2, log, FILES)).not.toEqual([]);
});

it('counts changes that were done twice, and no tests that ran twice', () => {
  expect(
    duplicates(
      made(
        edit,
        edit,
        () => tests(7, 0),
        () => tests(7, 0),
      ),
    ),
  ).toBe(1);
  expect(duplicates(made(edit))).toBe(0);
});

it('recalled is what a recall brought, after that', () => {
  const log = made(edit, () => call('recall', { words: 'flag' }, 'a `--json` flag'));
  expect(isRecalled('--json', 1, log)).toBe(true);
  expect(isRecalled('--json', seq, log)).toBe(false);
  expect(isRecalled('--csv', 1, log)).toBe(false);
});

it('finds a change that a report leaves out', () => {
  const another = () =>
    call('edit_file', { path: 'src/c.js', old_string: '1', new_string: '2' }, 'Edited: src/c.js, line 1.');
  const files = new Set(['src/a.js', 'src/c.js']);
  const log = made(edit, another, () => tests(7, 0));
  expect(judged(ANSWER, log, files)).toEqual(['the change of src/c.js is told']);
  expect(judged(`${ANSWER}\n2. \`src/c.js\`: two of them`, log, files)).toEqual([]);
});
