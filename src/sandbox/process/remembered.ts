/**
 * What was found on this machine, kept in the data folder: to try the walls and to ask each Python and CRIU takes a second of a
 * loaded machine, and a server that is started again after a crash has sessions that wait for it.
 *
 * R1  It holds for one boot, one user, one set of programs and of Python's packages; anything else is found anew.
 * R2  Nothing is trusted to it: it says how a cage is made, and a cage that does not hold up runs no command.
 */

import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord } from '../../lib/json.ts';
import type { CageSpec } from './confine/detect.ts';
import type { Keeper } from './image/detect.ts';
import type { Python } from './python.ts';

export interface Found {
  readonly cage: CageSpec;
  readonly python: Python | null;
  readonly keeper: Keeper;
}

type Env = Readonly<Record<string, string | undefined>>;

/** What stands in `file`, if it was found on this very machine; else what `find` finds now, and keeps. */
export async function remembered<Missing>(
  file: string,
  env: Env,
  find: () => Promise<Found | Missing>,
  isFound: (found: Found | Missing) => found is Found,
): Promise<Found | Missing> {
  const machine = machineOf(env);
  const before = read(file);
  if (machine !== null && before?.machine === machine && before.packages === packagesOf(before.found))
    return before.found;
  const found = await find();
  if (machine !== null && isFound(found))
    write(file, JSON.stringify({ machine, packages: packagesOf(found), found }));
  return found;
}

/** R1. Null where a machine does not say which boot it is. */
function machineOf(env: Env): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const folders = (env.PATH ?? '').split(':').filter((folder) => folder !== '');
    const programs = ['bwrap', 'unshare', 'setpriv', 'python3', 'criu', 'runsc'].map((name) => {
      const at = folders.map((folder) => join(folder, name)).find((path) => stamp(path) !== null);
      return at === undefined ? name : `${at} ${stamp(at)}`;
    });
    const user = process.getuid?.() ?? -1;
    return JSON.stringify([
      boot,
      user,
      process.version,
      env.PATH,
      env.OUTLAST_PYTHON,
      env.OUTLAST_CRIU,
      ...programs,
    ]);
  } catch {
    return null;
  }
}

/** R1. A package that comes or goes changes its folder. */
const packagesOf = ({ python }: Found): string =>
  (python?.searched ?? []).map((path) => `${path} ${stamp(path)}`).join('\n');

function stamp(path: string): string | null {
  try {
    const { size, mtimeMs } = statSync(path);
    return `${size}.${mtimeMs}`;
  } catch {
    return null;
  }
}

interface Kept {
  readonly machine: string;
  readonly packages: unknown;
  readonly found: Found;
}

function read(file: string): Kept | null {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const isKept = isRecord(kept) && typeof kept.machine === 'string' && isRecord(kept.found);
    return isKept ? (kept as unknown as Kept) : null;
  } catch {
    return null;
  }
}

function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // It is found again the next time.
  }
}
