// Owns: what "up to date" means. Two hashes (what is installed, what is built) and the stamps that hold them.
// Called by ensure.mjs and build.mjs. Reads files only; installing and building are theirs.
//
// S1. A stamp is written last, inside the folder it vouches for: a killed install or build leaves none.
// S2. The hash is of contents, never of times: a checkout, a copy or a touch changes nothing.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const dist = join(root, 'dist');
export const installStamp = join(root, 'node_modules', '.outlast-stamp');
export const buildStamp = (folder) => join(folder, '.stamp');

/** What `npm ci` depends on: the lock, the manifest's dependency fields, and the platform of native parts. */
export function installHash() {
  const { scripts: _scripts, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const major = process.versions.node.split('.')[0];
  return hash([
    ['manifest', JSON.stringify(manifest)],
    ['lock', readFileSync(join(root, 'package-lock.json'))],
    ['platform', `node ${major} ${process.platform} ${process.arch}`],
  ]);
}

/** What `dist` depends on: the sources that are built, how they are built, and the compiler (by the lock). */
export function buildHash() {
  const recipe = ['tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
  return hash([
    ['lock', readFileSync(join(root, 'package-lock.json'))],
    ...[...recipe, ...sources()].map((path) => [path, readFileSync(join(root, path))]),
  ]);
}

/** Every file under src that takes part in a build, as sorted paths with forward slashes. */
export function sources(folder = 'src') {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sources(path);
      return entry.name.startsWith('.') || path.endsWith('.test.ts') ? [] : [path];
    })
    .sort();
}

export function stamped(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

export function stamp(file, value) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, value);
}

function hash(parts) {
  const sum = createHash('sha256');
  for (const [name, content] of parts) sum.update(`${name}\0${content.length}\0`).update(content);
  return sum.digest('hex');
}
