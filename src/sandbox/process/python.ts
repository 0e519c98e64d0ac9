/** The CPython of this machine: of those that are found, the one that has the most for work with tables. */

import { execFile } from 'node:child_process';
import { dirname } from 'node:path';

export interface Python {
  /** The program itself, links resolved. */
  readonly program: string;
  readonly version: string;
  /** Folders that it needs to be seen. */
  readonly prefixes: readonly string[];
  /** Of `numpy`, `pandas`, `matplotlib`. */
  readonly packages: readonly string[];
  /** Folders of packages of every Python that was asked: where one comes in, another Python may have the most. */
  readonly searched: readonly string[];
}

const PROBE = `
import importlib.util as u, json, os, platform, sys
if platform.python_implementation() != 'CPython' or sys.version_info < (3, 8): sys.exit(1)
print(json.dumps({
  'program': os.path.abspath(sys.executable), 'version': platform.python_version(),
  'prefixes': sorted({sys.prefix, sys.base_prefix, sys.exec_prefix}),
  'packages': [n for n in ('numpy', 'pandas', 'matplotlib') if u.find_spec(n)],
  'searched': sys.path,
}))`;

const PROBE_MS = 10_000;

/** `OUTLAST_PYTHON` names one; otherwise those that are usually there. Null when there is none. */
export async function findPython(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Python | null> {
  const named = env.OUTLAST_PYTHON;
  const candidates = named ? [named] : ['python3', '/usr/bin/python3', '/usr/local/bin/python3'];
  const found = (await Promise.all(candidates.map(probe))).filter((one) => one !== null);
  // Of equals the first: it is the one that the person would get.
  const best = found.reduce<Python | null>(
    (best, one) => (best === null || one.packages.length > best.packages.length ? one : best),
    null,
  );
  return best && { ...best, searched: [...new Set(found.flatMap(({ searched }) => searched))] };
}

function probe(program: string): Promise<Python | null> {
  return new Promise((resolve) => {
    execFile(program, ['-I', '-c', PROBE], { timeout: PROBE_MS }, (error, stdout) => {
      if (error) return resolve(null);
      try {
        const { prefixes, ...rest } = JSON.parse(stdout) as Python;
        // A program that is linked to from elsewhere lies beside what it needs.
        const bin = dirname(rest.program);
        const own = prefixes.some((prefix) => bin.startsWith(`${prefix}/`)) ? [] : [bin];
        resolve({ ...rest, prefixes: [...prefixes, ...own] });
      } catch {
        resolve(null);
      }
    });
  });
}
