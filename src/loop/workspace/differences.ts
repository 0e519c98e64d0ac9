/** What differs between two states of files, as people and models read it. */

import { createTwoFilesPatch } from 'diff';
import { changesBetween, type Entry, entryAt, type FileEntry, type Tree } from '../../core/workspace/tree.ts';
import { clip, textIn } from '../../lib/text.ts';

/** One for each path that differs, as long as there is room; and how many are left out. */
export interface Differences {
  readonly shown: readonly string[];
  readonly left: number;
}

type Contents = (entry: FileEntry) => Promise<Uint8Array | null>;

interface States {
  readonly before: Tree;
  readonly after: Tree;
  /** The bytes of a file of either state; null when they are lost. */
  readonly old: Contents;
  readonly now: Contents;
  /** Only this file or folder; by default everything. */
  readonly only?: string;
}

const SHOWN_CHARS = 40_000;
const SHOWN_FILES = 200;

export async function differences({ before, after, old, now, only = '' }: States): Promise<Differences> {
  const isMeant = (path: string): boolean => only === '' || path === only || path.startsWith(`${only}/`);
  const changes = changesBetween(before, after).filter(({ path }) => isMeant(path));
  const shown: string[] = [];
  let chars = 0;
  for (const { path } of changes.slice(0, SHOWN_FILES)) {
    const one = difference(
      path,
      await sided(entryAt(before, path), old),
      await sided(entryAt(after, path), now),
    );
    chars += one.length;
    if (chars > SHOWN_CHARS && shown.length > 0) break;
    shown.push(clip(one, SHOWN_CHARS));
  }
  return { shown, left: changes.length - shown.length };
}

const sided = async (entry: Entry | undefined, read: Contents): Promise<Sided> => ({
  entry,
  bytes: entry?.kind === 'file' && entry.size <= MOST_BYTES ? await read(entry) : null,
});

/** A file of either state, with its bytes; null where there is none, or its bytes are lost. */
interface Sided {
  readonly entry: Entry | undefined;
  readonly bytes: Uint8Array | null;
}

/** Beyond that the lines are not compared. */
const MOST_BYTES = 1024 * 1024;
const MOST_EDITS = 5_000;

function difference(path: string, before: Sided, after: Sided): string {
  const what = kindsInWords(path, before.entry, after.entry);
  if (what !== null) return what;
  const old = before.bytes === null ? '' : textIn(before.bytes);
  const now = after.bytes === null ? '' : textIn(after.bytes);
  if (old === null || now === null)
    return `${path}: binary, ${sizeOf(before.entry)} → ${sizeOf(after.entry)} bytes`;
  const isBig = sizeOf(before.entry) > MOST_BYTES || sizeOf(after.entry) > MOST_BYTES;
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
