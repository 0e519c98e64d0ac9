/** What the session has seen of its files: the digest that each had when it was read or written last. */

import { entryAt } from '../../core/workspace/tree.ts';
import { isRecord } from '../../lib/json.ts';
import type { Found, Workspace } from '../../workspace/port.ts';

const SEEN = 'seen';
/** More is forgotten, the oldest first; then a file has to be read again before it is written. */
const MOST = 2_000;
const NONE = 'none';

const stateOf = (found: Found): string => (found.kind === 'file' ? found.digest : NONE);

export async function see(files: Workspace, found: Found): Promise<void> {
  await seeAs(files, found.path, stateOf(found));
}

export async function seeAs(files: Workspace, path: string, digest: string): Promise<void> {
  const known = await files.recall(SEEN);
  const { [path]: before, ...others } = isRecord(known) ? (known as Record<string, string>) : {};
  if (before === digest) return;
  const kept = Object.entries(others).slice(-MOST);
  await files.remember(SEEN, { ...Object.fromEntries(kept), [path]: digest });
}

/** Whether what stands there is what the session knows: it read it, wrote it, or committed it and was told of no change. */
export async function isKnown(files: Workspace, found: Found): Promise<boolean> {
  const now = stateOf(found);
  const seen = await files.recall(SEEN);
  if (isRecord(seen) && seen[found.path] === now) return true;
  const entry = entryAt(await files.tree('last'), found.path);
  const committed = entry?.kind === 'file' ? entry.digest : NONE;
  if (committed !== now) return false;
  return (await files.untold()).every(({ path }) => path !== found.path);
}
