/** Ripgrep, where the machine has it: the same lines as our own search finds, in the order of the paths. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Refused } from './file-tool.ts';
import type { Query } from './search-files.ts';

export interface Hit {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** False when there is no ripgrep; `take` says whether it wants more. */
export function ripgrep(
  { pattern, from, glob, ignoresCase }: Query,
  folder: string,
  take: (hit: Hit) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const args = [
    ...['--no-config', '--json', '--sort=path', '--hidden', '--no-ignore', '--max-filesize=8M'],
    ...['--glob=!.git', ...(glob === undefined ? [] : [`--glob=${glob}`])],
    ...(ignoresCase ? ['--ignore-case'] : ['--case-sensitive']),
    ...['--regexp', pattern, '--', from === '' ? '.' : `./${from}`],
  ];
  return new Promise((resolve, reject) => {
    const child = spawn('rg', args, { cwd: folder, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let isEnough = false;
    let said = '';
    child.stderr.on('data', (data: Buffer) => {
      if (said.length < 2_000) said += data.toString();
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const hit = isEnough ? null : hitOf(line);
      if (hit && !take(hit)) {
        isEnough = true;
        child.kill();
      }
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? resolve(false) : reject(error),
    );
    child.on('close', (code) => {
      // 1: nothing matches. 2 with matches: some files could not be read.
      const isBroken = code === 2 && /regex|glob/.test(said);
      if (isBroken) reject(new Refused('search.pattern', `This cannot be searched for: ${said.trim()}`));
      else resolve(true);
    });
  });
}

interface Said {
  readonly type: string;
  readonly data: {
    readonly path?: { readonly text?: string };
    readonly lines?: { readonly text?: string };
    readonly line_number?: number;
  };
}

/** Null for what is no match, and for names and lines that are no text. */
function hitOf(line: string): Hit | null {
  const { type, data } = JSON.parse(line) as Said;
  const path = data.path?.text;
  const text = data.lines?.text;
  if (type !== 'match' || path === undefined || text === undefined) return null;
  return { path: path.replace(/^\.\//, ''), line: data.line_number ?? 0, text: text.replace(/\r?\n$/, '') };
}
