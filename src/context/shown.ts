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

/** The files that are shown, by item; what is before the first of them is only named. */
export type Window = readonly { readonly at: number; readonly files: readonly FileRef[] }[];

export const EMPTY: Window = [];

/** Index of the first item whose files are shown. */
export const firstShown = (window: Window): number => window[0]?.at ?? 0;

/** The window once `item`, at this place of the transcript, is in it. */
export function widened(window: Window, at: number, item: Item): Window {
  const files = filesOf(item);
  if (files.length === 0) return window;
  let shown = [...window, { at, files }];
  const all = () => shown.flatMap((entry) => entry.files);
  if (fits(all(), 1)) return shown;
  while (shown.length > 1 && !fits(all(), 0.5)) shown = shown.slice(1);
  return shown;
}

export function filesOf(item: Item): readonly FileRef[] {
  if (item.kind === 'message') return item.message.images;
  return item.kind === 'reply' ? item.parts.flatMap((part) => (part.type === 'file' ? [part] : [])) : [];
}

function fits(files: readonly FileRef[], share: number): boolean {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return files.length <= SHOWN_FILES * share && bytes <= SHOWN_BYTES * share;
}
