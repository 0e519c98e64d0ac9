/** Plants a load-time patch in this process: what is imported from here on is the changed text. */

import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { edited, type Planted } from './patch-hook.ts';
import type { Patch } from './patches.ts';

const DIST = new URL('../../', import.meta.url);

export function plant({ edits }: Patch): void {
  const data: Planted = { dist: DIST.href, edits };
  register('./patch-hook.js', { parentURL: import.meta.url, data });
}

/** What keeps a patch from being applied to the program as it is built; null when nothing does. */
export function misfit({ edits }: Patch): string | null {
  const texts = new Map<string, string>();
  try {
    for (const edit of edits) {
      const text = texts.get(edit.file) ?? readFileSync(new URL(edit.file, DIST), 'utf8');
      texts.set(edit.file, edited(text, edit));
    }
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
