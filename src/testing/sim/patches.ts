/**
 * Planted bugs in the text of the program, as it is built: what a slip of the hand, or a shortcut that seemed to do,
 * would make of one rule of the protocol. `main.ts` plants one before the program is loaded; nothing of it is in the
 * product. Each says why it would hurt, and `first` where it shows first.
 *
 * `find` stands once in its file under `dist/` (J1); when a line has moved on, its patch has to follow.
 */

import type { Where } from './hunt.ts';
import type { Edit } from './patch-hook.ts';
import { APPROVAL_PATCHES } from './patches/approvals.ts';
import { ARCHIVE_PATCHES } from './patches/archives.ts';
import { CHILD_PATCHES } from './patches/children.ts';
import { CONTEXT_PATCHES } from './patches/contexts.ts';
import { EFFECT_PATCHES } from './patches/effects.ts';
import { END_PATCHES } from './patches/ends.ts';
import { FILE_PATCHES } from './patches/files.ts';
import { FORK_PATCHES } from './patches/forks.ts';
import { HOLDER_PATCHES } from './patches/holders.ts';
import { PAST_PATCHES } from './patches/past.ts';
import { SPENT_PATCHES } from './patches/spent.ts';
import { TALK_PATCHES } from './patches/talks.ts';
import { TOLD_PATCHES } from './patches/told.ts';
import { WORK_PATCHES } from './patches/work.ts';

export interface Patch {
  readonly name: string;
  readonly first?: Where;
  readonly edits: readonly Edit[];
}

export const PATCHES: readonly Patch[] = [
  ...EFFECT_PATCHES,
  ...APPROVAL_PATCHES,
  ...HOLDER_PATCHES,
  ...SPENT_PATCHES,
  ...TOLD_PATCHES,
  ...WORK_PATCHES,
  ...ARCHIVE_PATCHES,
  ...FORK_PATCHES,
  ...CONTEXT_PATCHES,
  ...PAST_PATCHES,
  ...FILE_PATCHES,
  ...END_PATCHES,
  ...CHILD_PATCHES,
  ...TALK_PATCHES,
];
