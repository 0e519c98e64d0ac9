/** `search_files`: lines that match. By ripgrep where the machine has it, which is faster by far, else by ourselves. */

import { z } from 'zod';
import { OutlastError } from '../../core/error.ts';
import { filePath } from '../../core/workspace/path.ts';
import { head, textIn } from '../../lib/text.ts';
import type { Workspace } from '../../workspace/port.ts';
import { Refused, readingTool } from './file-tool.ts';
import { type Hit, ripgrep } from './ripgrep.ts';
import { tester } from './tester.ts';
import { MOST_VISITED, matcher, walk } from './walk.ts';

const PAGE = 100;
const LINE_CHARS = 300;
/** Of one file; the rest is the business of a shell. */
const MOST_BYTES = 8 * 1024 * 1024;

export interface Query {
  readonly pattern: string;
  readonly from: string;
  readonly glob: string | undefined;
  readonly ignoresCase: boolean;
}

export const searchFiles = readingTool({
  name: 'search_files',
  description:
    'Search the files of the workspace for a regular expression, line by line. Gives path, line and text.',
  input: z.strictObject({
    pattern: z.string().min(1).describe('A regular expression.'),
    path: z.string().optional().describe('A file or folder; by default all of the workspace.'),
    glob: z.string().min(1).optional().describe('Only in files that match, e.g. *.ts or src/**/*.md.'),
    ignore_case: z.boolean().optional(),
    skip: z.int().min(0).optional().describe('How many were shown before.'),
  }),
  async run({ pattern, path = '', glob, ignore_case: ignoresCase = false, skip = 0 }, files, { signal }) {
    const found = await files.find(filePath(path));
    if (found.kind === 'none' || found.kind === 'other')
      throw new Refused('file.none', `There is no "${path}".`);
    const query: Query = { pattern, from: found.path, glob, ignoresCase };
    const hits: Hit[] = [];
    let matched = 0;
    const take = (hit: Hit): boolean => {
      if (++matched <= skip) return true;
      if (hits.length >= PAGE) return false;
      hits.push(hit);
      return true;
    };
    const folder = await files.folder();
    const isDone = folder !== null && (await ripgrep(query, folder, take, signal));
    if (!isDone) await search(query, files, found.kind === 'file', take);
    const shown = isDone ? await standing(hits, files) : hits;
    if (shown.length === 0) return skip > 0 ? 'There are no more.' : 'Nothing matches.';
    const lines = shown.map(({ path: at, line, text }) => `${at}:${line}: ${head(text, LINE_CHARS)}`);
    if (matched > skip + PAGE) lines.push(`(more follow: skip ${skip + PAGE})`);
    return lines.join('\n');
  },
});

/**
 * The hits that stand in the workspace. Ripgrep opens by path whatever stands there at that moment, so whoever exchanges a
 * folder for a link beside it could have it read what lies outside; our own reading follows no link out.
 */
async function standing(hits: readonly Hit[], files: Workspace): Promise<readonly Hit[]> {
  const read = new Map<string, readonly string[]>();
  const shown: Hit[] = [];
  for (const hit of hits) {
    const lines = read.get(hit.path) ?? (await linesOf(hit.path, files));
    read.set(hit.path, lines);
    if (lines[hit.line - 1] === hit.text) shown.push(hit);
  }
  return shown;
}

async function linesOf(path: string, files: Workspace): Promise<readonly string[]> {
  try {
    return textIn(await files.read(path, 0, MOST_BYTES))?.split(/\r?\n/) ?? [];
  } catch (error) {
    if (error instanceof OutlastError && /^(files|path)\./.test(error.code)) return [];
    throw error;
  }
}

async function search(
  { pattern, from, glob, ignoresCase }: Query,
  files: Workspace,
  isFile: boolean,
  take: (hit: Hit) => boolean,
): Promise<void> {
  const test = tester(pattern, ignoresCase);
  const isMeant = matcher(glob);
  let visited = 0;
  const one = async (path: string, size: number): Promise<boolean> => {
    if (size > MOST_BYTES) return true;
    const text = textIn(await files.read(path, 0, size));
    if (text === null) return true;
    return test(text.split(/\r?\n/)).every(({ line, text: found }) => take({ path, line, text: found }));
  };
  if (isFile) {
    const found = await files.find(from);
    if (found.kind === 'file') await one(from, found.size);
    return;
  }
  for await (const { path, kind, size } of walk(files, { from, depth: 50 })) {
    if (++visited > MOST_VISITED) return;
    if (kind === 'file' && isMeant(path) && !(await one(path, size))) return;
  }
}
