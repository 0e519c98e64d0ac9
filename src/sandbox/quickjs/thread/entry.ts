/**
 * Where the code of a heap's thread lies.
 *
 * Built, it is a file beside this one. In the source tree it is TypeScript, which Node 20 cannot run: there the files
 * that the thread needs are stripped of their types into `node_modules/.cache`, once for each content.
 *
 * U1  A folder of stripped files is whole or not there; its name is the hash of the sources.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sha256 } from '../../../lib/digest.ts';
import { stripTypes } from '../typescript.ts';

export function threadEntry(): URL {
  const built = new URL('./worker.js', import.meta.url);
  if (!import.meta.url.endsWith('.ts')) return built;
  return stripped(new URL('./worker.ts', import.meta.url));
}

/** The JavaScript of a TypeScript module of this tree and of all that it imports from the tree. */
export function stripped(module: URL): URL {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
  const sources = collect(fileURLToPath(module));
  const name = sha256([...sources].flat().join('\0')).slice(0, 16);
  const folder = join(root, '..', 'node_modules', '.cache', 'outlast', name);
  if (!existsSync(folder)) write(folder, root, sources);
  return pathToFileURL(join(folder, relative(root, fileURLToPath(module))).replace(/\.ts$/, '.js'));
}

const IMPORT = /(\b(?:from|import|URL)\s*\(?\s*')(\.[^']*)\.ts'/g;

function collect(entry: string): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (sources.has(path)) continue;
    const source = readFileSync(path, 'utf8');
    sources.set(path, source);
    for (const [, , specifier] of source.matchAll(IMPORT))
      waiting.push(join(dirname(path), `${specifier}.ts`));
  }
  return new Map([...sources].sort());
}

function write(folder: string, root: string, sources: ReadonlyMap<string, string>): void {
  const draft = `${folder}.${process.pid}`;
  for (const [path, source] of sources) {
    const target = join(draft, relative(root, path).split(sep).join('/').replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, stripTypes(source).replace(IMPORT, "$1$2.js'"));
  }
  writeFileSync(join(draft, 'package.json'), '{"type":"module"}');
  try {
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true, force: true }); // Another process was first.
  }
}
