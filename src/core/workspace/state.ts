/** The slice of the state that the files of a session are: what stands in its folder, and who has changed it. */

import type { EffectId } from '../ids.ts';
import type { FileNote, FilesChanged, FilesRung } from './event.ts';
import type { TreeChange, TreeRef } from './tree.ts';

export interface Files {
  /** The tree that stands; null while the session never had a file. */
  readonly tree: TreeRef | null;
  /** Where it was committed. */
  readonly seq: number;
  /** Lease epoch in which the folder was looked at and equals that tree; null when nobody knows. */
  readonly opened: number | null;
  /** False from when it is opened until its last snapshot is taken. */
  readonly parked: boolean;
  /** Grows whenever files were lost, and is shown to the model. */
  readonly generation: number;
  /** The tree that stood when the turn began. */
  readonly atTurn: TreeRef | null;
  /** What somebody wants to stand there. */
  readonly wanted: {
    readonly seq: number;
    readonly why: 'imported' | 'restored';
    readonly tree: TreeRef;
    readonly from: string;
  } | null;
  /** What others have changed and no model has read of. */
  readonly drift: Drift | null;
  /** The last opening that found it otherwise than it was left. */
  readonly restored: {
    readonly rung: FilesRung;
    readonly at: number;
    readonly note: string;
    readonly lost: readonly FileNote[];
  } | null;
  /** What stands there and cannot be kept. */
  readonly left: readonly FileNote[];
  /** The last commits, newest last. */
  readonly commits: readonly FilesCommit[];
  /** What was changed since the last compaction. */
  readonly touched: Touched;
}

/** Files that were changed, by whomever, and where: each once, the newest last, so many of them. */
export interface Touched {
  readonly files: readonly (TreeChange & { readonly seq: number })[];
  /** Changes beside these. */
  readonly more: number;
}

export const UNTOUCHED: Touched = { files: [], more: 0 };

export const NO_FILES: Files = {
  tree: null,
  seq: 0,
  opened: null,
  parked: true,
  generation: 1,
  atTurn: null,
  wanted: null,
  drift: null,
  restored: null,
  left: [],
  commits: [],
  touched: UNTOUCHED,
};

export interface Drift {
  readonly at: number;
  /** What stood before the first of these changes; null before the first file. */
  readonly before: TreeRef | null;
  readonly changed: FilesChanged;
  /** Effects that were under way then: the changes may be theirs. */
  readonly effects: readonly EffectId[];
}

export interface FilesCommit {
  readonly seq: number;
  readonly at: number;
  readonly why: string;
  readonly effect: EffectId | null;
  readonly changed: FilesChanged;
}
