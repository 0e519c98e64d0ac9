/** The repository outside of all that is claimed of it: copied from the session's folder, and run by the judge itself. */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the task is given; it ships with its faults, and without their fixes. */
export const REPOSITORY = fileURLToPath(new URL('../../../examples/repair/repository', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** A copy of the files of a session, which nothing of it can touch. */
export class Copy {
  readonly dir = mkdtempSync(join(tmpdir(), 'outlast-judge-'));

  constructor(files: string) {
    cpSync(files, this.dir, { recursive: true });
  }

  run(args: readonly string[]): Promise<Ran> {
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: this.dir, timeout: 60_000 }, (error, stdout) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, output: stdout });
      });
    });
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Files that are not the same in both folders, or in one of them alone. */
export function differing(one: string, other: string): ReadonlySet<string> {
  const before = digests(one);
  const after = digests(other);
  return new Set([...before.keys(), ...after.keys()].filter((path) => before.get(path) !== after.get(path)));
}

/** Of all files below a folder, by their paths in it. */
function digests(dir: string): ReadonlyMap<string, string> {
  const paths = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    paths.map((path) => [relative(dir, path), createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}
