/**
 * Which files a request shows. Pure.
 *
 * V1  Never more than a provider takes in one request (`SHOWN_FILES`, `SHOWN_BYTES`).
 * V2  Oldest out first, and then until half the room is free: a window that moved with each new image would change the
 *     beginning of the request, which providers cache, each time.
 * V3  What a person has just said is shown as a whole.
 */

import { type FileRef, SHOWN_BYTES, SHOWN_FILES } from '../core/file.ts';
import type { Item } from '../core/state.ts';

/** Index of the first item whose files are shown; those before it are only named. */
export function shownFrom(items: readonly Item[], isWithheld: (item: Item) => boolean): number {
  let shown: { readonly at: number; readonly files: readonly FileRef[] }[] = [];
  for (const [at, item] of items.entries()) {
    const files = isWithheld(item) ? [] : filesOf(item);
    if (files.length === 0) continue;
    shown.push({ at, files });
    const all = () => shown.flatMap((entry) => entry.files);
    if (fits(all(), 1)) continue;
    while (shown.length > 1 && !fits(all(), 0.5)) shown = shown.slice(1);
  }
  return shown[0]?.at ?? items.length;
}

export function filesOf(item: Item): readonly FileRef[] {
  if (item.kind === 'message') return item.message.images;
  return item.kind === 'reply' ? item.parts.flatMap((part) => (part.type === 'file' ? [part] : [])) : [];
}

function fits(files: readonly FileRef[], share: number): boolean {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return files.length <= SHOWN_FILES * share && bytes <= SHOWN_BYTES * share;
}
