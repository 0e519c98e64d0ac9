/**
 * What is not kept: by the rules of `.outlastignore`, in the syntax of `.gitignore`, in any folder. Without such a file
 * everything is kept, `node_modules` and `.git` as well.
 */

import ignore, { type Ignore } from 'ignore';
import { foldersAbove } from '../core/workspace/path.ts';

export const IGNORE_FILE = '.outlastignore';

/** `text` gives the content of a file, or null. A path is asked after the folders above it. */
export function ignored(text: (path: string) => string | null): (path: string, isFolder: boolean) => boolean {
  const rules = new Map<string, Ignore | null>();
  const shut = new Set<string>();

  function rulesOf(folder: string): Ignore | null {
    const known = rules.get(folder);
    if (known !== undefined) return known;
    const lines = text(folder === '' ? IGNORE_FILE : `${folder}/${IGNORE_FILE}`);
    const made = lines === null ? null : ignore().add(lines);
    rules.set(folder, made);
    return made;
  }

  return (path, isFolder) => {
    const above = foldersAbove(path);
    if (above.some((folder) => shut.has(folder))) return true;
    // The folder nearest to it has the last word, as with git.
    let isIgnored = false;
    for (const folder of ['', ...above]) {
      const inside = folder === '' ? path : path.slice(folder.length + 1);
      const said = rulesOf(folder)?.test(isFolder ? `${inside}/` : inside);
      if (said?.ignored) isIgnored = true;
      if (said?.unignored) isIgnored = false;
    }
    if (isIgnored && isFolder) shut.add(path);
    return isIgnored;
  };
}
