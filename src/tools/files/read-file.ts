/** `read_file`: a page of a text file with its line numbers; of anything else, what it is. */

import { z } from 'zod';
import { head, textIn } from '../../lib/text.ts';
import type { Workspace } from '../../workspace/port.ts';
import { Refused, readingTool } from './file-tool.ts';
import { see } from './seen.ts';
import { whatIs } from './text.ts';

const PAGE_LINES = 2_000;
const PAGE_CHARS = 60_000;
const LINE_CHARS = 2_000;
const PIECE = 256 * 1024;

export const readFile = readingTool({
  name: 'read_file',
  description:
    'Read a file of the workspace of this task. Text comes with line numbers, up to 2,000 lines at a time; go on with ' +
    'offset. Read a file before you change it.',
  input: z.strictObject({
    path: z.string().min(1).describe('From the folder of the workspace, e.g. src/main.ts.'),
    offset: z.int().min(1).optional().describe('The first line, counted from 1.'),
    limit: z.int().min(1).max(PAGE_LINES).optional().describe('How many lines.'),
  }),
  async run({ path, offset = 1, limit = PAGE_LINES }, files) {
    const found = await files.find(path);
    if (found.kind === 'folder') throw new Refused('file.folder', `"${path}" is a folder. Next: list_files.`);
    if (found.kind === 'other') throw new Refused('file.special', `"${path}" is no regular file.`);
    await see(files, found);
    if (found.kind === 'none') throw new Refused('file.none', `There is no file "${path}".`);
    if (found.size === 0) return `"${path}" is empty.`;
    const start = await files.read(found.path, 0, Math.min(found.size, PIECE));
    // A piece may end inside a character: then all but its last bytes is text.
    if (!isText(start))
      return `"${path}" is ${whatIs(start)} of ${found.size} bytes; it is not shown as text.`;
    return page(path, await lines(found.path, found.size, files, offset, limit));
  },
});

interface Lines {
  readonly shown: readonly string[];
  readonly first: number;
  /** Whether more lines follow. */
  readonly isMore: boolean;
  /** Known when the end was reached. */
  readonly total: number | null;
}

function page(path: string, { shown, first, isMore, total }: Lines): string {
  if (shown.length === 0) return `"${path}" has ${total} lines; there is none from ${first} on.`;
  const last = first + shown.length - 1;
  const width = String(last).length;
  const numbered = shown.map((line, i) => `${String(first + i).padStart(width)}\t${line}`).join('\n');
  return isMore ? `${numbered}\n(lines ${first} to ${last}; more follow: offset ${last + 1})` : numbered;
}

/** Goes through the file a piece at a time: what was read and is not shown is forgotten. */
async function lines(
  path: string,
  size: number,
  files: Workspace,
  first: number,
  limit: number,
): Promise<Lines> {
  const decoder = new TextDecoder('utf-8');
  const shown: string[] = [];
  let chars = 0;
  let number = 1;
  let open = '';
  const take = (line: string): boolean => {
    if (number >= first) {
      const cut = line.length > LINE_CHARS ? `${head(line, LINE_CHARS)}… (${line.length} characters)` : line;
      if (shown.length >= limit || (shown.length > 0 && chars + cut.length > PAGE_CHARS)) return false;
      shown.push(cut);
      chars += cut.length;
    }
    number++;
    return true;
  };
  for (let at = 0; at < size; ) {
    const piece = await files.read(path, at, PIECE);
    if (piece.length === 0) break;
    at += piece.length;
    const parts = (open + decoder.decode(piece, { stream: at < size })).split('\n');
    open = parts.pop() ?? '';
    for (const part of parts) {
      if (!take(part.replace(/\r$/, ''))) return { shown, first, isMore: true, total: null };
    }
  }
  if (open !== '' && !take(open)) return { shown, first, isMore: true, total: null };
  return { shown, first, isMore: false, total: number - 1 };
}

function isText(bytes: Uint8Array): boolean {
  for (let cut = 0; cut < 4; cut++) {
    if (textIn(bytes.subarray(0, bytes.length - cut)) !== null) return true;
  }
  return false;
}
