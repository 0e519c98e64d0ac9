// Owns: src -> dist. Called by ensure.mjs, under its lock.
//
// B1. A build grows in dist.next and is swapped in whole: a killed build leaves the old dist or none, never half.
// B2. It starts from a copy of the last one, so that the compiler emits only what changed.
// B3. Types are judged by `npm run check`; a build stops only at what cannot be emitted.

import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { runInstalled } from './child.mjs';
import { buildStamp, dist, root, sources, stamp, stamped } from './stamp.mjs';

const next = join(root, 'dist.next');
const last = join(root, 'dist.last');

/** Builds and swaps; resolves with whether it went well. The compiler's messages are on stderr. */
export async function build(hash, onPid) {
  // A build that was killed between the two renames of the swap is whole: finish it.
  if (stamped(buildStamp(next)) !== hash) {
    prepare();
    if (!(await compile(onPid))) return false;
    copyAssets();
    pointAtBuiltWorkers();
    stamp(buildStamp(next), hash);
  }
  swap();
  return true;
}

function prepare() {
  rmSync(next, { recursive: true, force: true });
  if (existsSync(dist)) cpSync(dist, next, { recursive: true });
  rmSync(buildStamp(next), { force: true });
  const wanted = new Set(['.tsbuildinfo', ...sources().flatMap(outputs)]);
  for (const path of filesIn(next)) if (!wanted.has(path)) rmSync(join(next, path));
}

async function compile(onPid) {
  const info = join(next, '.tsbuildinfo');
  const where = ['-p', 'tsconfig.build.json', '--outDir', next, '--tsBuildInfoFile', info];
  const args = [...where, '--incremental', '--noCheck'];
  return (await runInstalled('typescript/bin/tsc', args, { stdout: 2, isDisposable: true, onPid })) === 0;
}

function copyAssets() {
  for (const path of sources().filter((path) => !isCompiled(path))) {
    const target = join(next, path.slice('src/'.length));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
}

/** The compiler rewrites `./x.ts` in imports; worker entries are named by URL, which it leaves alone. */
function pointAtBuiltWorkers() {
  const byUrl = /(new URL\(\s*['"]\.{1,2}\/[^'"]+)\.ts(['"],\s*import\.meta\.url)/g;
  for (const path of filesIn(next).filter((path) => path.endsWith('.js'))) {
    const text = readFileSync(join(next, path), 'utf8');
    const pointed = text.replace(byUrl, '$1.js$2');
    if (pointed !== text) writeFileSync(join(next, path), pointed);
  }
}

function swap() {
  rmSync(last, { recursive: true, force: true });
  if (existsSync(dist)) renameSync(dist, last);
  renameSync(next, dist);
  rmSync(last, { recursive: true, force: true });
}

function outputs(path) {
  const name = path.slice('src/'.length);
  if (!isCompiled(path)) return [name];
  const stem = name.slice(0, -'.ts'.length);
  return [`${stem}.js`, `${stem}.js.map`, `${stem}.d.ts`];
}

function isCompiled(path) {
  return path.endsWith('.ts') && !path.endsWith('.d.ts');
}

function filesIn(folder, prefix = '') {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? filesIn(join(folder, entry.name), `${prefix}${entry.name}/`)
      : [`${prefix}${entry.name}`],
  );
}
