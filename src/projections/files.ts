/** What became of the files of a session, in words and in one look. Pure. */

import type { State } from '../core/state.ts';
import type { FilesChanged } from '../core/workspace/event.ts';
import type { Drift } from '../core/workspace/state.ts';
import { oneLine } from '../lib/text.ts';

const SHOWN = 20;

/** For the model, before its next step. */
export function driftInWords({ changed, effects }: Drift): string {
  const who =
    effects.length === 0
      ? 'somebody else'
      : `somebody else, or ${effects.join(', ')}, which came to no end (the worker was lost)`;
  return `files that ${who} has changed since the last commit: ${changesInWords(changed)}. Read them again before you change them.`;
}

export function changesInWords({ added, changed, removed, paths }: FilesChanged): string {
  const all = added + changed + removed;
  const shown = paths.slice(0, SHOWN).map(({ path, change }) => `${oneLine(path, 120)} (${change})`);
  const more = all > shown.length ? ` and ${all - shown.length} more` : '';
  return shown.join(', ') + more;
}

export interface FilesInspection {
  readonly files: number;
  readonly bytes: number;
  readonly generation: number;
  /** Whether the folder is at hand, as far as the log knows. */
  readonly isOpen: boolean;
  /** What others have changed and no model has read of; null when there is nothing. */
  readonly drift: string | null;
  /** The last opening that found it otherwise than it was left. */
  readonly restored: { readonly rung: string; readonly at: number; readonly note: string } | null;
  readonly lost: readonly { readonly path: string; readonly why: string }[];
  readonly left: readonly { readonly path: string; readonly why: string }[];
  /** The last commits, newest last. */
  readonly commits: readonly {
    readonly seq: number;
    readonly at: number;
    readonly why: string;
    readonly effect: string | null;
    readonly changes: string;
  }[];
}

export function filesOf({ workspace, lifetime }: State): FilesInspection | null {
  const { tree, drift, restored, left, commits, generation, opened } = workspace;
  if (tree === null) return null;
  return {
    files: tree.files,
    bytes: tree.bytes,
    generation,
    isOpen: opened === lifetime.epoch,
    drift: drift && changesInWords(drift.changed),
    restored: restored && { rung: restored.rung, at: restored.at, note: restored.note },
    lost: restored?.lost ?? [],
    left,
    commits: commits.map(({ seq, at, why, effect, changed }) => ({
      ...{ seq, at, why, effect },
      changes: changesInWords(changed),
    })),
  };
}
