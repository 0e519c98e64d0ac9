/** `list_files`: what is in a folder. */

import { z } from 'zod';
import { filePath } from '../../core/workspace/path.ts';
import type { Listed } from '../../workspace/port.ts';
import { readingTool } from './file-tool.ts';
import { MOST_VISITED, matcher, walk } from './walk.ts';

const PAGE = 500;

export const listFiles = readingTool({
  name: 'list_files',
  description:
    'List the files of the workspace. With a glob like src/**/*.ts all folders are gone through, without one two levels.',
  input: z.strictObject({
    path: z.string().optional().describe('A folder; by default that of the workspace.'),
    glob: z.string().min(1).optional().describe('Only what matches, from the folder of the workspace.'),
    depth: z.int().min(1).max(50).optional().describe('How many levels of folders.'),
    skip: z.int().min(0).optional().describe('How many were shown before.'),
  }),
  async run({ path = '', glob, depth = glob === undefined ? 2 : 50, skip = 0 }, files) {
    const from = filePath(path);
    const isMeant = matcher(glob);
    const shown: string[] = [];
    let visited = 0;
    let matched = 0;
    for await (const one of walk(files, { from, depth })) {
      if (++visited > MOST_VISITED)
        return `${shown.join('\n')}\n(more than ${MOST_VISITED} names: list a folder)`;
      if (!isMeant(one.path)) continue;
      if (++matched <= skip) continue;
      if (shown.length >= PAGE) return `${shown.join('\n')}\n(more follow: skip ${skip + PAGE})`;
      shown.push(lineOf(one));
    }
    if (shown.length > 0) return shown.join('\n');
    return matched > 0
      ? 'There are no more.'
      : glob === undefined
        ? 'The folder is empty.'
        : 'Nothing matches.';
  },
});

function lineOf({ path, kind, size }: Listed): string {
  switch (kind) {
    case 'file':
      return `${path} (${size} bytes)`;
    case 'folder':
      return `${path}/`;
    case 'link':
      return `${path} (a link)`;
    case 'other':
      return `${path} (no file)`;
  }
}
