/**
 * Which confinement this machine allows: the strongest that is seen to work, tried by running a command in it. Nothing is
 * taken from a version or a file: what a kernel, a container or an administrator forbids shows only when it is tried.
 */

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProgram } from '../limits.ts';
import type { ConfinementName } from '../port.ts';
import { bubblewrap } from './bubblewrap.ts';
import { type Cage, NOBODY, WORKSPACE } from './cage.ts';
import { namespaces } from './namespaces.ts';
import { unconfined } from './unconfined.ts';
import { shownOf } from './visible.ts';

/** How to make a cage again, in another process. */
export interface CageSpec {
  readonly name: ConfinementName;
  readonly program: string;
  readonly more: readonly string[];
}

export type Detected =
  | { readonly found: true; readonly spec: CageSpec }
  /** What was tried, and why it does not do. */
  | { readonly found: false; readonly why: readonly string[] };

const TRY_MS = 10_000;

export function cageOf({ name, program, more }: CageSpec): Cage {
  switch (name) {
    case 'bubblewrap':
      return bubblewrap(program, more);
    case 'namespaces':
      return namespaces;
    case 'none':
      return unconfined;
  }
}

/** Down the ladder, or only the one that is named. */
export async function detectCage(only?: ConfinementName): Promise<Detected> {
  if (only === 'none') return { found: true, spec: { name: 'none', program: '', more: [] } };
  if (process.platform !== 'linux') {
    return { found: false, why: ['there are no namespaces on this system'] };
  }
  const why: string[] = [];
  for (const name of ['bubblewrap', 'namespaces'] as const) {
    if (only && only !== name) continue;
    const spec = await specOf(name);
    const failure = spec ? await tried(cageOf(spec)) : 'it is not installed';
    if (spec && failure === null) return { found: true, spec };
    why.push(`${name}: ${failure}`);
  }
  return { found: false, why };
}

async function specOf(name: 'bubblewrap' | 'namespaces'): Promise<CageSpec | null> {
  if (!hasProgram('unshare')) return null;
  if (name === 'namespaces') {
    return hasProgram('setpriv') ? { name, program: 'unshare', more: [] } : null;
  }
  if (!hasProgram('bwrap')) return null;
  const help = await new Promise<string>((resolve) => {
    execFile('bwrap', ['--help'], { timeout: TRY_MS }, (_, stdout) => resolve(stdout));
  });
  const more = ['--disable-userns'].filter((option) => help.includes(option));
  return { name, program: 'bwrap', more };
}

/** Null when a command in there is nobody, sees only what it should, and can write its workspace. */
async function tried(cage: Cage): Promise<string | null> {
  const dir = mkdtempSync(join(tmpdir(), 'outlast-try-'));
  try {
    const folder = (name: string): string => {
      mkdirSync(join(dir, name), { mode: 0o700 });
      return join(dir, name);
    };
    const room = {
      ...{ shown: shownOf(null), files: [], env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } },
      ...{ workspace: folder('workspace'), scratch: folder('scratch') },
      ...{ outputs: folder('outputs'), root: folder('root') },
    };
    const proof = `[ "$(id -u)" = ${NOBODY} ] && [ ! -e ${dir} ] && (: > proof) && ! (: > /usr/proof) && echo proven`;
    const inmate = { argv: ['/bin/sh', '-c', `{ ${proof}; } 2>/dev/null`], cwd: WORKSPACE, pty: false };
    return await said(cage.outer(cage.inner(inmate, room)));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function said([program = '', ...args]: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'], env: { PATH } });
    const texts = ['', ''];
    child.stdout?.on('data', (data: Buffer) => {
      texts[0] += data.toString();
    });
    child.stderr?.on('data', (data: Buffer) => {
      texts[1] += data.toString();
    });
    const over = setTimeout(() => child.kill('SIGKILL'), TRY_MS);
    const end = (why: string) => {
      clearTimeout(over);
      const isProven = texts[0]?.trim() === 'proven';
      resolve(isProven ? null : (texts[1]?.trim().split('\n')[0] || why).slice(0, 200));
    };
    child.on('error', (error) => end(error.message));
    child.on('close', (code) => end(`a command in it did not do what it should (${code})`));
  });
}

const PATH = process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin';
