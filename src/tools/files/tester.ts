/** A regular expression of a model on lines, under a time limit: some never come to an end. */

import { createContext, Script } from 'node:vm';
import { Refused } from './file-tool.ts';

const LIMIT_MS = 1_000;

const FIND = new Script('lines.flatMap((text, i) => expression.test(text) ? [{ line: i + 1, text }] : [])');

export function tester(
  pattern: string,
  ignoresCase: boolean,
): (lines: readonly string[]) => readonly { readonly line: number; readonly text: string }[] {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, ignoresCase ? 'iu' : 'u');
  } catch (error) {
    throw new Refused('search.pattern', `This is no regular expression: ${(error as Error).message}.`);
  }
  return (lines) => {
    const context = createContext({ lines, expression });
    try {
      return FIND.runInContext(context, { timeout: LIMIT_MS }) as readonly { line: number; text: string }[];
    } catch {
      throw new Refused('search.slow', 'This expression takes too long. Next: search for something simpler.');
    }
  };
}
