/** Planted bugs of files: what is not kept, what is written over, and what is done twice. */

import type { Patch } from '../patches.ts';

const NEXT = 'core/next.js';
const CHANGE = 'tools/files/change.js';
const WRITTEN = 'files that are written';
const EDITED = 'a person edits while it waits';
const LOST = 'a folder that is lost with its machine';

export const FILE_PATCHES: readonly Patch[] = [
  {
    // It is settled, and the folder is gone with the machine: nothing of it stands anywhere.
    name: 'settled and not kept: no look at the files after a call',
    first: { scenario: WRITTEN },
    edits: [
      {
        file: 'loop/perform.js',
        find: 'const after = await by.workspaces.look(by.session, s, drift?.tree ?? s.workspace.tree);',
        replace: 'const after = null;',
      },
    ],
  },
  {
    // What a person did while it waited is put back to what the log knows.
    name: 'drift overwritten: a folder that differs is restored over',
    first: { scenario: EDITED },
    edits: [
      {
        file: 'loop/workspace/workspaces.js',
        find: 'if (seen !== null) {',
        replace: 'if (seen !== null && standing === null) {',
      },
    ],
  },
  {
    // It looks restored; the program does not start any more.
    name: 'modes forgotten: what is restored has the modes of new files',
    first: { scenario: LOST },
    edits: [
      {
        file: 'workspace/memory.js',
        find: "made.set(entry.path, { kind: 'file', mode: entry.mode, bytes: joined(parts) });",
        replace: "made.set(entry.path, { kind: 'file', mode: FILE, bytes: joined(parts) });",
      },
    ],
  },
  {
    // Written, and the worker died before it could say so.
    name: 'no note: a call that changes a file does not know that it has',
    first: { scenario: WRITTEN, mode: 'crash' },
    edits: [{ file: CHANGE, find: 'if (note?.after === now)', replace: 'if (false)' }],
  },
  {
    // The note is there, and nobody compares it with the file.
    name: 'done again: a repeated edit is applied to what it has made',
    first: { scenario: WRITTEN, mode: 'crash' },
    edits: [
      { file: CHANGE, find: 'if (note?.after === now)', replace: 'if (false)' },
      { file: CHANGE, find: 'if (!isExpected)', replace: 'if (false)' },
    ],
  },
  {
    // The folder of another life is written to before anybody has looked at it.
    name: 'unopened: a call goes to the files before the folder was looked at',
    first: { scenario: WRITTEN },
    edits: [{ file: NEXT, find: 'if (!isCheckedOut(s))', replace: 'if (false)' }],
  },
  {
    // What the one did is kept as the doing of the other.
    name: 'two hands: calls that change files run side by side',
    first: { scenario: WRITTEN },
    edits: [{ file: NEXT, find: 'return mustWaitForFiles(s, effect, now) ?', replace: 'return false ?' }],
  },
  {
    // Its successor is done long ago, and a frozen machine wakes up in the middle of its first write.
    name: 'late hand: a holder that was replaced still writes',
    first: { scenario: WRITTEN, mode: 'freeze', near: 'workspaces.write' },
    edits: [
      {
        file: 'workspace/memory.js',
        find: 'if (epoch >= home(session).epoch)',
        replace: 'if (true)',
      },
    ],
  },
];
