/** Going through a folder of the workspace in the order of the paths, and which of them are meant. */

import type { Listed, Workspace } from '../../workspace/port.ts';

/** What one call looks at, at the most. */
export const MOST_VISITED = 50_000;

export interface Walk {
  readonly from: string;
  /** How many folders deep; 1 is the folder itself. */
  readonly depth: number;
}

export async function* walk(files: Workspace, { from, depth }: Walk): AsyncGenerator<Listed, void, void> {
  for (const one of await files.list(from)) {
    yield one;
    // The inside of a repository is asked for by name.
    const isHidden = one.path === '.git' || one.path.endsWith('/.git');
    if (one.kind === 'folder' && depth > 1 && !isHidden)
      yield* walk(files, { from: one.path, depth: depth - 1 });
  }
}

/** `*` within a name, `**` over folders, `?`, `{a,b}`; a pattern without `/` is about the name alone. */
export function matcher(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  const source = glob.includes('/') ? glob.replace(/^\.?\//, '') : `**/${glob}`;
  let pattern = '';
  let inBraces = 0;
  for (let i = 0; i < source.length; i++) {
    const c = source[i] as string;
    if (source.startsWith('**/', i)) {
      pattern += '(?:.*/)?';
      i += 2;
    } else if (source.startsWith('**', i)) {
      pattern += '.*';
      i++;
    } else if (c === '*') pattern += '[^/]*';
    else if (c === '?') pattern += '[^/]';
    else if (c === '{') {
      pattern += '(?:';
      inBraces++;
    } else if (c === '}' && inBraces > 0) {
      pattern += ')';
      inBraces--;
    } else if (c === ',' && inBraces > 0) pattern += '|';
    else pattern += c.replace(/[\\^$.|+()[\]{}]/, '\\$&');
  }
  pattern += ')'.repeat(inBraces);
  const expression = new RegExp(`^${pattern}$`, 's');
  return (path) => expression.test(path);
}
