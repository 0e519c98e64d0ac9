/**
 * What of the machine can be seen inside: programs and libraries, and of `/etc` only what they need and nobody keeps a
 * secret in. A list of what is shown rather than of what is hidden: what nobody thought of stays outside.
 */

import { lstatSync, readlinkSync } from 'node:fs';
import type { Python } from '../python.ts';

export type Shown =
  | { readonly kind: 'folder' | 'file'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly to: string };

const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'];

const SETTINGS = [
  'alternatives',
  'ca-certificates',
  'fonts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'matplotlibrc',
  'mime.types',
  'nsswitch.conf',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
].map((name) => `/etc/${name}`);

export function shownOf(python: Python | null): readonly Shown[] {
  const system = [...PROGRAMS, ...SETTINGS].flatMap(shown);
  const own = (python?.prefixes ?? []).filter(
    (path) => !PROGRAMS.some((root) => path.startsWith(`${root}/`)),
  );
  return [...system, ...own.filter((path) => !PROGRAMS.includes(path)).flatMap(shown)];
}

function shown(path: string): readonly Shown[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  if (found.isSymbolicLink()) return [{ kind: 'link', path, to: readlinkSync(path) }];
  return [{ kind: found.isDirectory() ? 'folder' : 'file', path }];
}
