/**
 * The module hook behind load-time patches: Node asks it for the text of each file, and it hands out another text for
 * the files that a planted bug changes. It runs in Node's own thread for hooks, so it shares no memory with the rest.
 *
 * J1  A patch applies at exactly one place, or the process ends: after a refactoring it must not pass for caught, or for
 *     missed, because it changes nothing.
 */

import type { LoadHook } from 'node:module';

export interface Edit {
  /** Below `dist/`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** The edits of one patch, and where the files stand. */
export interface Planted {
  readonly dist: string;
  readonly edits: readonly Edit[];
}

let planted: Planted = { dist: '', edits: [] };

export function initialize(data: Planted): void {
  planted = data;
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const edits = planted.edits.filter(({ file }) => new URL(file, planted.dist).href === url);
  if (edits.length === 0) return loaded;
  return { ...loaded, source: edits.reduce(edited, textOf(loaded.source)) };
};

/** J1. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    const times = text.split(find).length - 1;
    throw new Error(`it does not apply: ${file} has ${times} times what it should have once: ${find}`);
  }
  return before + replace + after;
}

type Source = Awaited<ReturnType<LoadHook>>['source'];

function textOf(source: Source): string {
  if (typeof source === 'string') return source;
  return source ? new TextDecoder().decode(source) : '';
}
