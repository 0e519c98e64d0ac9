/**
 * From TypeScript to JavaScript: types are blanked out, so that lines and columns stay what the author wrote.
 *
 * Y1  Text without `<` that parses as JavaScript means the same in TypeScript, and goes through untouched: the stripper
 *     (a WebAssembly module of 4 MB) is loaded when the first cell needs it.
 * Y2  Only what cannot be blanked out (enums, namespaces, parameter properties) is rewritten, at the cost of its columns.
 */

import { createRequire } from 'node:module';
import { isRecord } from '../../lib/json.ts';
import { SourceError } from './rewrite.ts';

const require = createRequire(import.meta.url);
const STRIPPER = '@swc/wasm-typescript';

export function stripTypes(source: string): string {
  try {
    return strip(source, 'strip-only');
  } catch (error) {
    if (!isRecord(error) || error.code !== 'UnsupportedSyntax') throw sourceError(error);
  }
  try {
    return strip(source, 'transform');
  } catch (error) {
    throw sourceError(error);
  }
}

function strip(source: string, mode: 'strip-only' | 'transform'): string {
  const { transformSync } = require(STRIPPER) as typeof import('@swc/wasm-typescript');
  // A cell keeps its enums, so a later cell may change or extend them: their members are looked up, not copied in.
  const transform = { noEmptyExport: true, verbatimModuleSyntax: true, tsEnumIsMutable: true };
  return transformSync(source, { mode, module: true, transform }).code;
}

/** The stripper throws plain objects for errors of the source, and anything when it breaks. */
function sourceError(error: unknown): SourceError {
  if (!isRecord(error) || typeof error.message !== 'string' || typeof error.startLine !== 'number') {
    delete require.cache[require.resolve(STRIPPER)]; // It broke in the middle of its work: load it anew.
    return new SourceError('the cell is nested too deeply to be read', 1, 1);
  }
  const column = typeof error.startColumn === 'number' ? error.startColumn + 1 : 1;
  return new SourceError(error.message, error.startLine, column);
}
