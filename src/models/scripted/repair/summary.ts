/**
 * What the planner writes of work in a repository when its view is to become smaller: an edit is a decision, a test run a
 * fact, each with the number of its entry. What was only looked at is looked at again, and of test runs the last one counts.
 */

import type { ModelRequest } from '../../../core/message.ts';
import { oneLine } from '../../../lib/text.ts';
import { commandIn } from './looks.ts';
import { readTap } from './tap.ts';
import { type Made, viewOf } from './view.ts';

/** Below what a line may have. */
const CHARS = 480;
const START_CHARS = 60;

export function repairSummary(request: ModelRequest): string {
  const asked = request.messages.at(-1);
  const text = asked?.role === 'user' ? asked.text : '';
  const entries = [...text.matchAll(/^#(\d+) (.+)$/gm)].map(([, seq, entry = '']) => ({ seq, entry }));
  const kept: { readonly line: string; readonly isRun: boolean }[] = [];
  let at = 0;
  for (const made of viewOf(request).all) {
    const start = oneLine(made.say, START_CHARS).replace(/…$/, '');
    const found = entries.findIndex(({ entry }, i) => i >= at && entry.startsWith(start));
    if (found === -1) continue;
    at = found + 1;
    const said = inWords(made);
    if (said === null) continue;
    const line = `${oneLine(said, CHARS)} [#${entries[found]?.seq}]`;
    kept.push({ line, isRun: made.tool === 'shell' });
  }
  const lastRun = kept.findLast(({ isRun }) => isRun);
  const lines = kept.flatMap((one) => (one.isRun && one !== lastRun ? [] : [one.line]));
  const [first] = entries;
  const last = entries.at(-1);
  if (lines.length > 0 || !first || !last) return lines.join('\n');
  return `fact: files were read and searched, and nothing was changed [#${first.seq}, #${last.seq}]`;
}

function inWords({ tool, input, status, text, say, why }: Made): string | null {
  if (tool === 'edit_file') {
    const { path, old_string: old, new_string: now } = input;
    if (status !== 'done') return `fact: the edit of ${path} was not done: ${text}`;
    return `decision: ${path}: ${why ?? say}; changed "${old}" to "${now}"`;
  }
  if (tool !== 'shell') return null;
  const result = status === 'done' ? commandIn(text) : null;
  const run = result && readTap(result.output, '/workspace');
  if (!run) return `fact: ${input.command} came to no test results: ${text.slice(0, 200)}`;
  const names = run.failures
    .slice(0, 3)
    .map(({ name }) => `"${name}"`)
    .join(', ');
  return `fact: ${run.passed} tests passed and ${run.failed} failed at that time${names && `: ${names}`}`;
}
