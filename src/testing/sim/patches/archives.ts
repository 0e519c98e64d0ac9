/** Planted bugs of archiving: what is thrown away for good. */

import type { Patch } from '../patches.ts';

const ARCHIVE = 'loop/heap/archive.js';
const RECORD = 'loop/record.js';
const WOKEN = { scenario: 'archived and woken', mode: 'crash' } as const;
const IN_A_CELL = { scenario: 'archived in the middle of a cell', mode: 'crash' } as const;

export const ARCHIVE_PATCHES: readonly Patch[] = [
  {
    // Nearly always there is a new base, and then nothing older is needed.
    name: 'all that is old: an archive sheds the very image that the heap stands on',
    first: IN_A_CELL,
    edits: [{ file: ARCHIVE, find: ' && !kept.has(event.image.blob)', replace: '' }],
  },
  {
    // An answer may come, and then the cell goes on from where it stands.
    name: 'no way back: an archive sheds the images from before a cell that waits',
    first: IN_A_CELL,
    edits: [{ file: ARCHIVE, find: ', ...imagesOf(s.heap.cell?.before.chain)', replace: '' }],
  },
  {
    // It was made and sealed; that it stands nowhere is seen by nobody who does not wake it.
    name: 'made and dropped: an archive is written without its new base',
    first: WOKEN,
    edits: [
      {
        file: RECORD,
        find: 'left.based ? based(left.based, s) : NOTHING',
        replace: 'NOTHING',
      },
    ],
  },
  {
    // The session rests as before, so what was to be done is to be done.
    name: 'again and again: what is archived is archived once more',
    first: WOKEN,
    edits: [
      {
        file: 'core/residency/next.js',
        find: 's.heap.chain === null || s.residence.archivedSince === s.activeAt',
        replace: 's.heap.chain === null',
      },
    ],
  },
  {
    // It is a message like any other.
    name: 'as if it had been there: a receipt does not say that the session was archived',
    first: WOKEN,
    edits: [
      {
        file: 'core/residency/policy.js',
        find: "residence.archivedSince === activeAt ? 'archived' : 'parked'",
        replace: "'parked'",
      },
    ],
  },
];
