/** Planted bugs of the end of a session: what goes too early, what stays behind, and what is never done. */

import type { Patch } from '../patches.ts';

const DELETED = 'deleted after its notice';
const ORDERED = 'stopped, and deleted by order';
const TREE = 'a tree that is deleted';

export const END_PATCHES: readonly Patch[] = [
  {
    // The owner was told, and had no time to say no.
    name: 'impatient: a notice is over as soon as it is given',
    first: { scenario: DELETED },
    edits: [
      {
        file: 'core/retention/next.js',
        find: 'const due = notice?.until ?? Math.max(',
        replace: 'const due = notice?.at ?? Math.max(',
      },
      {
        file: 'loop/retention/record.js',
        find: 'return now < notice.until',
        replace: 'return now < notice.at',
      },
    ],
  },
  {
    // It refuses every message, and never goes.
    name: 'half gone: whoever takes over does not go on with a deletion',
    first: { scenario: ORDERED, mode: 'crash' },
    edits: [
      {
        file: 'core/next.js',
        find: 'if (s.retention.going !== null)',
        replace:
          'if (s.retention.going !== null && s.lifetime.crashes > 0)\n        return REST;\n    if (s.retention.going !== null)',
      },
    ],
  },
  {
    // A tombstone, and everything that it speaks of still lies in a folder.
    name: 'left behind: the files of a session stay where they are',
    first: { scenario: ORDERED },
    edits: [
      { file: 'loop/retention/erase.js', find: 'await ports.workspaces.erase(session, epoch);', replace: '' },
    ],
  },
  {
    // Nobody can order them to go any more: their parent is the one who does.
    name: 'orphans: a session is deleted, and its children are not',
    first: { scenario: TREE },
    edits: [
      {
        file: 'loop/retention/erase.js',
        find: '!(await childrenGone(s, by, halt))',
        replace: 'halt.aborted',
      },
    ],
  },
  {
    // A crash between the two leaves a child of nobody.
    name: 'ordered is done: a session does not wait until its children are gone',
    first: { scenario: TREE },
    edits: [
      {
        file: 'loop/retention/erase.js',
        find: 'await ports.clock.sleep(POLL_MS, halt.signal);',
        replace: 'return true;',
      },
    ],
  },
];
