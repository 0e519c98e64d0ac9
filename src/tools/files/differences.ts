/** What differs between two states of files, as people and models read it. */

import { createTwoFilesPatch } from 'diff';
import type { Entry } from '../../core/tree.ts';
import { textOf } from './text.ts';

/** A file of either state, with its bytes; null where there is none, or its bytes are lost. */
export interface Sided {
  readonly entry: Entry | undefined;
  readonly bytes: Uint8Array | null;
}

/** Beyond that the lines are not compared. */
const MOST_BYTES = 1024 * 1024;
const MOST_EDITS = 5_000;

export function difference(path: string, before: Sided, after: Sided): string {
  const what = kindsInWords(path, before.entry, after.entry);
  if (what !== null) return what;
  const old = before.bytes === null ? '' : textOf(before.bytes);
  const now = after.bytes === null ? '' : textOf(after.bytes);
  if (old === null || now === null)
    return `${path}: binary, ${sizeOf(before.entry)} → ${sizeOf(after.entry)} bytes`;
  const isBig = old.length > MOST_BYTES || now.length > MOST_BYTES;
  const from = before.entry ? `a/${path}` : '/dev/null';
  const to = after.entry ? `b/${path}` : '/dev/null';
  const patch = isBig
    ? undefined
    : createTwoFilesPatch(from, to, old, now, undefined, undefined, {
        context: 3,
        maxEditLength: MOST_EDITS,
      });
  if (patch === undefined)
    return `${path}: too much differs to be shown, ${sizeOf(before.entry)} → ${sizeOf(after.entry)} bytes`;
  return patch.replace(/^=+\n/, '').trimEnd();
}

/** Null where both are files, or one is and the other is nothing: then their lines are compared. */
function kindsInWords(path: string, before: Entry | undefined, after: Entry | undefined): string | null {
  const isLines = (entry: Entry | undefined): boolean => entry === undefined || entry.kind === 'file';
  if (isLines(before) && isLines(after)) {
    const isSame = before?.kind === 'file' && after?.kind === 'file' && before.digest === after.digest;
    return isSame ? `${path}: mode ${modeOf(before)} → ${modeOf(after)}` : null;
  }
  return `${path}: ${spelled(before)} → ${spelled(after)}`;
}

function spelled(entry: Entry | undefined): string {
  if (entry === undefined) return 'nothing';
  if (entry.kind === 'link') return `link to ${entry.target}`;
  return entry.kind === 'folder' ? `folder ${modeOf(entry)}` : `file of ${entry.size} bytes`;
}

const modeOf = (entry: Entry): string => ('mode' in entry ? entry.mode.toString(8) : '');
const sizeOf = (entry: Entry | undefined): number => (entry?.kind === 'file' ? entry.size : 0);
