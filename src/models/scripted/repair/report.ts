/**
 * The answer once the tests pass: each edit as the log has it. What a compaction has taken out of view is recalled, and not
 * told from its summary.
 */

import type { Plan } from './looks.ts';
import type { TestRun } from './tap.ts';
import type { Line, Made, View } from './view.ts';

interface Change {
  readonly path: string;
  readonly old: string;
  readonly replacement: string;
  readonly why: string;
  /** The event that has it; null for one that is in view. */
  readonly seq: number | null;
}

export function* reportOf(view: View, run: TestRun): Plan<string> {
  const changes: Change[] = [];
  const unseen: string[] = [];
  for (const line of view.decisions) {
    const change = yield* recalled(line);
    if (change === null) unseen.push(`${line.text} [#${line.sources.join(', #')}]`);
    else if (!changes.some((one) => isSameChange(one, change))) changes.push(change);
  }
  for (const made of view.all) {
    const change = changeOf(made);
    if (change && !changes.some((one) => isSameChange(one, change))) changes.push(change);
  }
  // Done by the ledger, and nobody has written down how.
  const bare = view.ledger.filter(({ path }) => !changes.some((one) => one.path === path));
  const lines = [
    ...changes.map(told),
    ...bare.map(({ path, sources }) => `\`${path}\`: edited [#${sources.join(', #')}]`),
  ];
  return [
    `The tests pass: all ${run.passed} of them, in a run after the last edit.`,
    lines.length === 0
      ? 'Nothing had to be changed.'
      : `Changed, in this order, each uncovered by the one before:\n${lines.map((line, at) => `${at + 1}. ${line}`).join('\n')}`,
    ...(unseen.length === 0 ? [] : [`Noted, and not found again in the log: ${unseen.join('; ')}`]),
    'I changed no file of the tests.',
  ].join('\n\n');
}

/** The call that the line was taken from, word for word. */
function* recalled({ text, sources }: Line): Plan<Change | null> {
  const [seq] = sources;
  if (seq === undefined) return null;
  const original = yield {
    tool: 'recall',
    input: { id: `#${seq}` },
    say: `For the report I recall how this was done (#${seq}), instead of telling it from the summary.`,
  };
  const [, json] = /^edit_file (\{.*\})$/m.exec(original ?? '') ?? [];
  const input = json === undefined ? null : (JSON.parse(json) as Record<string, unknown>);
  const { path, old_string: old, new_string: replacement } = input ?? {};
  if (typeof path !== 'string' || typeof old !== 'string' || typeof replacement !== 'string') return null;
  const [, why = ''] = /^\S+: (.+?)(?:; changed "|$)/.exec(text) ?? [];
  return { path, old, replacement, why, seq };
}

function changeOf({ tool, status, input, why }: Made): Change | null {
  const { path, old_string: old, new_string: replacement } = input;
  if (tool !== 'edit_file' || status !== 'done') return null;
  if (typeof path !== 'string' || typeof old !== 'string' || typeof replacement !== 'string') return null;
  return { path, old, replacement, why: why ?? '', seq: null };
}

const isSameChange = (a: Change, b: Change): boolean =>
  a.path === b.path && a.old === b.old && a.replacement === b.replacement;

function told({ path, old, replacement, why, seq }: Change): string {
  const source = seq === null ? '' : ` [#${seq}]`;
  const [from, to] = narrowed(old, replacement);
  return `\`${path}\`: ${why}. Changed \`${from}\` to \`${to}\`${source}`;
}

/** The first line that differs: enough to be recognised. */
function narrowed(old: string, replacement: string): readonly [string, string] {
  const now = replacement.split('\n');
  const before = old.split('\n');
  const at = before.findIndex((line, i) => line !== now[i]);
  return [before[at]?.trim() ?? old, now[at]?.trim() ?? replacement];
}
