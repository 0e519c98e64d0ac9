/**
 * What is asked of the workspace, and the answers that are in view. A plan that has to look is a generator: it yields a
 * call, gets the text of its result, and is run from its beginning at each request (B1 of the planner): what it
 * has asked already is answered from the view, and the first call that is not there is the next step.
 */

import type { Json } from '../../../lib/json.ts';
import type { Call, Made } from './view.ts';

export interface Ask extends Call {
  readonly say: string;
  readonly why?: string;
}

/** Gets the text of a result; null where the call failed. */
export type Plan<Value> = Generator<Ask, Value, string | null>;

export type Outcome<Value> =
  | { readonly kind: 'ask'; readonly ask: Ask }
  | { readonly kind: 'done'; readonly value: Value };

export function advance<Value>(plan: Plan<Value>, made: readonly Made[]): Outcome<Value> {
  let step = plan.next();
  while (!step.done) {
    const ask = step.value;
    const call = made.findLast((one) => isSame(one, ask));
    if (!call) return { kind: 'ask', ask };
    step = plan.next(call.status === 'done' ? call.text : null);
  }
  return { kind: 'done', value: step.value };
}

export const isSame = (a: Call, b: Call): boolean => a.tool === b.tool && sorted(a.input) === sorted(b.input);

const sorted = (input: Call['input']): string =>
  JSON.stringify(Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1)));

// ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────

export function* read(path: string, say: string): Plan<string | null> {
  const text = yield { tool: 'read_file', input: { path }, say };
  return text?.replaceAll(/^ *\d+\t/gm, '') ?? null;
}

export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export function* search(pattern: string, glob: string, say: string): Plan<readonly Hit[]> {
  const text = yield { tool: 'search_files', input: { pattern, glob }, say };
  return [...(text ?? '').matchAll(/^([^\s:]+):(\d+): (.*)$/gm)].map(([, path = '', line, found = '']) => ({
    path,
    line: Number(line),
    text: found.trim(),
  }));
}

export function* list(input: { path?: string; glob?: string }, say: string): Plan<readonly string[]> {
  const text = yield { tool: 'list_files', input: input as Record<string, Json>, say };
  return [...(text ?? '').matchAll(/^(\S+) \(\d+ bytes\)$/gm)].map(([, path = '']) => path);
}

export const shell = (command: string, say: string): Ask => ({ tool: 'shell', input: { command }, say });

/** What a command has printed and how it ended; null where the result does not say so. */
export function commandIn(text: string): { readonly exitCode: number; readonly output: string } | null {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  try {
    const { exitCode, output } = JSON.parse(json) as { exitCode?: unknown; output?: unknown };
    return typeof exitCode === 'number' && typeof output === 'string' ? { exitCode, output } : null;
  } catch {
    return null;
  }
}
