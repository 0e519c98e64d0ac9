/** `diff_files`: what has changed since a commit of the workspace. */

import { z } from 'zod';
import { filePath } from '../../core/file-path.ts';
import { changesBetween, type Entry, entryAt } from '../../core/tree.ts';
import { clip } from '../../lib/text.ts';
import type { Workspace } from '../../workspace/port.ts';
import { difference, type Sided } from './differences.ts';
import { readingTool } from './file-tool.ts';

const SHOWN_CHARS = 40_000;
const SHOWN_FILES = 200;

export const diffFiles = readingTool({
  name: 'diff_files',
  description:
    'Show what has changed in the workspace: since the beginning of this turn, since the last commit (every call that ' +
    'changes files commits), or since an event of the log.',
  input: z.strictObject({
    against: z.enum(['turn', 'last']).optional().describe('By default the beginning of the turn.'),
    at: z.int().min(1).optional().describe('Against the commit that stood at this event of the log.'),
    path: z.string().optional().describe('Only this file or folder.'),
  }),
  async run({ against = 'turn', at, path = '' }, files) {
    const only = filePath(path);
    const before = await files.tree(at ?? against);
    const after = await files.now();
    const isMeant = (one: string): boolean => only === '' || one === only || one.startsWith(`${only}/`);
    const changes = changesBetween(before, after).filter((change) => isMeant(change.path));
    if (changes.length === 0) return 'Nothing has changed.';
    const shown: string[] = [];
    for (const change of changes.slice(0, SHOWN_FILES)) {
      const old = entryAt(before, change.path);
      const now = entryAt(after, change.path);
      const one = difference(change.path, await kept(old, files), await standing(now, files));
      shown.push(one);
      if (shown.reduce((sum, { length }) => sum + length, 0) > SHOWN_CHARS) break;
    }
    const left = changes.length - shown.length;
    const more = left === 0 ? '' : `\n(${left} more paths differ; name a path)`;
    return clip(shown.join('\n'), SHOWN_CHARS) + more;
  },
});

const kept = async (entry: Entry | undefined, files: Workspace): Promise<Sided> => ({
  entry,
  bytes: entry?.kind === 'file' ? await files.content(entry) : null,
});

const standing = async (entry: Entry | undefined, files: Workspace): Promise<Sided> => ({
  entry,
  bytes: entry?.kind === 'file' ? await files.read(entry.path, 0, entry.size) : null,
});
