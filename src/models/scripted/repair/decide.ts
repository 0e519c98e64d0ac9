/**
 * The next step of work in a repository: one call, or the answer. Pure.
 *
 * R1  Only the newest test run counts, and only what was looked at since: after an edit, a loss or a compaction that took
 *     the run out of view, the tests run again before anything else is decided.
 * R2  An edit is made once. One that is refused is told in the answer, and not tried in other ways.
 * R3  The answer claims what the log has: each edit by its own call, and the tests by their last run.
 */

import { diagnose } from './diagnosis.ts';
import { withFlag } from './flag.ts';
import { type Ask, advance, commandIn, isSame, type Outcome, type Plan, shell } from './looks.ts';
import { reportOf } from './report.ts';
import { readTap, type TestRun } from './tap.ts';
import type { Verdict } from './verdict.ts';
import type { Made, View } from './view.ts';

export type Step =
  | { readonly kind: 'call'; readonly ask: Ask }
  | { readonly kind: 'answer'; readonly text: string };

const ROOT = '/workspace';
const NEEDED = ['shell', 'read_file', 'edit_file', 'list_files', 'search_files', 'recall'];
/** Of one command, in a row, without a result. */
const MOST_FAILURES = 3;

export function decideRepair(view: View): Step {
  const missing = NEEDED.filter((tool) => !view.tools.has(tool));
  if (missing.length > 0) return answer(`I cannot work on files here: ${missing.join(', ')} is not offered.`);
  if (view.isShaken && view.made.length > 0)
    return call({
      ...LOOK,
      say: 'The worker or its files were lost or changed: I look at the files as they stand now, and then run the tests again.',
    });
  return view.order?.kind === 'flag' ? stepOf(advance(withFlag(ROOT), view.made)) : repair(view);
}

/** What the folder holds. */
const LOOK: Ask = { tool: 'list_files', input: { depth: 3 }, say: 'I look at what the repository holds.' };

function repair(view: View): Step {
  const since = lastShake(view.made);
  const at = view.made.findLastIndex(({ tool }) => tool === 'shell');
  const before = view.made[at];
  const command: Outcome<string | null> = before
    ? { kind: 'done', value: String(before.input.command) }
    : advance(testCommand(), view.made);
  if (command.kind === 'ask') return call(command.ask);
  if (command.value === null)
    return answer('I found no way to run the tests: package.json names no command for "test".');
  const wanted = shell(command.value, '');
  if (at < since || at === -1) return call({ ...wanted, say: whyRun(view, since) });
  const last = view.made[at] as Made;
  const result = last.status === 'done' ? commandIn(last.text) : null;
  if (result === null) return again(view.made.slice(0, at + 1), wanted);
  const run = readTap(result.output, ROOT);
  if (run === null)
    return cannot(`the test run ended with ${result.exitCode} and printed no complete results`);
  const looked = view.made.slice(at + 1);
  if (run.failed === 0 && result.exitCode === 0) return stepOf(advance(reportOf(view, run), looked));
  return fix(run, looked);
}

/** One fault after the other, each from what the run has shown. */
function fix(run: TestRun, looked: readonly Made[]): Step {
  const found: Outcome<Verdict> = advance(diagnose(run), looked);
  if (found.kind === 'ask') return call(found.ask);
  const verdict = found.value;
  if (verdict.kind === 'none')
    return cannot(
      `${run.failed} of ${run.passed + run.failed} tests fail, and I know no fix: ${verdict.why}`,
    );
  const { path, old, replacement, why } = verdict;
  const edit: Ask = {
    tool: 'edit_file',
    input: { path, old_string: old, new_string: replacement },
    say: `${path}: ${why}.`,
    why,
  };
  // One that was done is followed by another run; so this one was refused (R2).
  const refused = looked.findLast((one) => isSame(one, edit));
  return refused ? cannot(`the edit of ${path} was refused: ${refused.text}`) : call(edit);
}

/** R1: from here on things are as they are now. */
function lastShake(made: readonly Made[]): number {
  const edited = made.findLastIndex(({ tool, status }) => tool === 'edit_file' && status === 'done');
  return (
    1 +
    Math.max(
      edited,
      made.findLastIndex((one) => isSame(one, LOOK)),
    )
  );
}

function* testCommand(): Plan<string | null> {
  yield LOOK;
  const text = yield {
    tool: 'read_file',
    input: { path: 'package.json' },
    say: 'I read package.json for how the tests are run.',
  };
  return /"test":\s*"([^"]+)"/.exec(text ?? '')?.[1] ?? null;
}

function whyRun({ made, decisions }: View, since: number): string {
  if (made[since - 1]?.tool === 'edit_file') return 'I run the tests to see what that has changed.';
  if (decisions.length === 0) return 'I run the tests.';
  const fixes = `${decisions.length} ${decisions.length === 1 ? 'fix' : 'fixes'}`;
  return `What is kept of the past names ${fixes}; how things are now I see from the tests, so I run them.`;
}

/** A run that came to no result is made again, a few times. */
function again(made: readonly Made[], wanted: Ask): Step {
  const runs = made.filter((one) => isSame(one, wanted));
  const failed = runs.slice(runs.findLastIndex(({ status }) => status === 'done') + 1);
  const last = runs.at(-1)?.text ?? '';
  if (failed.length >= MOST_FAILURES || failed.length === 0)
    return cannot(`the tests could not be run: ${last.slice(0, 300)}`);
  return call({ ...wanted, say: 'That run came to no result; I run the tests again.' });
}

const call = (ask: Ask): Step => ({ kind: 'call', ask });
export const answer = (text: string): Step => ({ kind: 'answer', text: `${text}\n\n${SCRIPTED}` });
const cannot = (why: string): Step => answer(`I could not finish: ${why}.`);
const stepOf = (outcome: Outcome<string>): Step =>
  outcome.kind === 'ask' ? call(outcome.ask) : answer(outcome.value);

const SCRIPTED =
  'This was done by a scripted planner and no model: it knows a few kinds of fault and nothing else.';
