/** Recording what became of the files: with a settlement, at an opening, and at the last look. Pure. */

import type { EventBody, EventOf } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import type { FileNote } from '../../core/workspace/event.ts';
import type { Facts } from '../log.ts';
import type { Performed } from '../perform.ts';
import type { KeptTree } from './workspaces.ts';

type Why = EventOf<'workspace.committed'>['why'];

/** What others did before it, its settlement, and what it did. */
export function called({ call, files }: Extract<Performed, { do: 'call' }>, settled: Facts, s: State): Facts {
  if (!files) return settled;
  const { drift, after } = files;
  return joined(
    committedFiles(drift, 'drift', s),
    joined(settled, committedFiles(after, 'call', s, call.effect)),
  );
}

export function committedFiles(
  kept: KeptTree | null,
  why: Why,
  s: State,
  effect: EventOf<'workspace.committed'>['effect'] = null,
): Required<Pick<Facts, 'events' | 'blobs'>> {
  // Asked again on a newer head it may stand there already.
  if (kept === null || s.workspace.seq !== kept.base) return { events: [], blobs: [] };
  const { tree, changed, stored, left, blobs } = kept;
  const news = isSame(left, s.workspace.left) ? {} : { left };
  return { events: [{ kind: 'workspace.committed', why, effect, tree, changed, stored, ...news }], blobs };
}

export function checkedOut(
  { call, checkedOut: { rung, note, lost, found, set } }: Extract<Performed, { do: 'checkout' }>,
  s: State,
  epoch: number,
): Facts {
  const isOpen = s.workspace.opened === epoch;
  // Opened before under this epoch, it is told only when it is otherwise than it was left.
  const isNews = !isOpen || (found === null ? rung !== 'attached' : found.base === s.workspace.seq);
  const opened: EventBody = {
    kind: 'workspace.opened',
    ...{ epoch, rung, note, lost },
    tree: found?.tree ?? null,
    changed: rung === 'attached' ? null : (found?.changed ?? null),
  };
  const { wanted } = s.workspace;
  const isDone = set !== null && wanted !== null && wanted.seq === set.seq && call.wanted === set.seq;
  return {
    events: [
      ...(isNews ? [opened] : []),
      ...(isDone
        ? [
            {
              kind: 'workspace.committed' as const,
              ...{ why: wanted.why, effect: null, tree: set.kept.tree },
              ...{ changed: set.kept.changed, stored: set.kept.stored },
            },
          ]
        : []),
    ],
    blobs: [...(found?.blobs ?? []), ...(set?.kept.blobs ?? [])],
  };
}

export const joined = (first: Facts, second: Facts): Required<Pick<Facts, 'events' | 'blobs'>> => ({
  events: [...first.events, ...second.events],
  blobs: [...(first.blobs ?? []), ...(second.blobs ?? [])],
});

const isSame = (a: readonly FileNote[], b: readonly FileNote[]): boolean =>
  a.length === b.length && a.every(({ path, why }, i) => path === b[i]?.path && why === b[i]?.why);
