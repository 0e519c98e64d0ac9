/**
 * From what a model wrote to what the engine runs.
 *
 * T1  Pure, and throws nothing: a source that cannot be run is a message of one line, with line and column.
 */

import { oneLine } from '../../lib/text.ts';
import type { Prepared } from '../port.ts';
import { isObjectLiteral, parseScript, rewrite, SourceError } from './rewrite.ts';
import { stripTypes } from './typescript.ts';

/** Longer sources are data; those come in through a call. */
const MAX_SOURCE = 1 << 20;

/**
 * Prepares a cell.
 *
 * @example
 * ```ts
 * prepare('const n: number = 1'); // { ok: true, code: 'var n         = 1\n;void 0;' }
 * ```
 */
export function prepare(source: string): Prepared {
  if (source.length > MAX_SOURCE)
    return { ok: false, message: `a cell is at most ${MAX_SOURCE} characters long` };
  try {
    return { ok: true, code: rewrite(toScript(source)) };
  } catch (error) {
    if (!(error instanceof SourceError)) return { ok: false, message: 'the cell cannot be read' };
    const { message, line, column } = error;
    return { ok: false, message: `SyntaxError: ${oneLine(message, 300)} (line ${line}, column ${column})` };
  }
}

function toScript(source: string): string {
  const isLiteral = /^\s*\{/.test(source) && !/;\s*$/.test(source) && isObjectLiteral(source);
  const text = isLiteral ? `(${source}\n)` : source;
  return needsStripping(text) ? stripTypes(text) : text;
}

/** See Y1 of typescript.ts. */
function needsStripping(source: string): boolean {
  if (source.includes('<')) return true;
  try {
    parseScript(source);
    return false;
  } catch {
    return true;
  }
}
