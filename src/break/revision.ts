/**
 * What a bench or a campaign has tested, by content and not by any version control: digests of the built files. So
 * figures that are kept show which code they are of, and totals are only added up where it was the same.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../lib/digest.ts';

export interface Revision {
  /** Of the code under test: all that is built, but the rooms that test it or show it. */
  readonly code: string;
  /** Of what tests it. */
  readonly campaign: string;
}

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '..');
const BESIDE = ['testing', 'break', 'demo'];
const DIGITS = 16;

export function revision(root: string = BUILT): Revision {
  const files = readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(js|ts|mjs|html|css|wasm|sql)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !/\.d\.ts$|\.test\.ts$/.test(path))
    .sort();
  const isBeside = (path: string): boolean => BESIDE.includes(path.slice(0, path.indexOf('/')));
  const digest = (paths: readonly string[]): string =>
    sha256(paths.map((path) => `${path} ${sha256(readFileSync(join(root, path)))}`).join('\n')).slice(
      0,
      DIGITS,
    );
  return {
    code: digest(files.filter((path) => !isBeside(path))),
    campaign: digest(files.filter((path) => isBeside(path))),
  };
}
