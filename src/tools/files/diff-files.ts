/** `diff_files`: what has changed since a commit of the workspace. */

import { z } from 'zod';
import { filePath } from '../../core/workspace/path.ts';
import { readingTool } from './file-tool.ts';

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
    const { shown, left } = await files.diff(at ?? against, filePath(path));
    if (shown.length === 0) return 'Nothing has changed.';
    return shown.join('\n') + (left === 0 ? '' : `\n(${left} more paths differ; name a path)`);
  },
});
