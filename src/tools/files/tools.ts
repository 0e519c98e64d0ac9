/** The tools on the files of a session, for every session. */

import type { Tool } from '../port.ts';
import { diffFiles } from './diff-files.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { searchFiles } from './search-files.ts';
import { editFile, writeFile } from './write-file.ts';

export const FILE_TOOLS: readonly Tool[] = [readFile, writeFile, editFile, listFiles, searchFiles, diffFiles];
