/** Paths inside a workspace: relative, with `/`, in one spelling. Says no before anything is touched. */

import { OutlastError } from '../error.ts';

/** `./src//a.ts` → `src/a.ts`; the folder itself is the empty path. Throws `path.outside` for what may lead out. */
export function filePath(text: string): string {
  if (text.includes('\0')) throw outside('A path holds no NUL.');
  if (/\p{Surrogate}/u.test(text)) throw outside('A path is well-formed text.');
  const slashed = text.replace(/\\/g, '/');
  if (slashed.startsWith('/') || /^[A-Za-z]:/.test(slashed))
    throw outside(`"${text}" is no path inside the workspace: name it from the workspace's own folder.`);
  const names = text.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..') || slashed.split('/').includes('..'))
    throw outside(`"${text}" leads out of the workspace.`);
  return names.join('/');
}

export const outside = (message: string): OutlastError =>
  new OutlastError('path.outside', message, { next: 'name a path inside the workspace' });

/** The folder that holds it; that of the uppermost is the empty path. */
export const folderOf = (path: string): string =>
  path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';

/** The folders above it, uppermost first. */
export function foldersAbove(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}
