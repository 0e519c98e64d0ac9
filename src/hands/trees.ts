/** Trees on their way between brain and hands. Where a piece is kept is the brain's affair: here its digest names it. */

import type { BlobRef } from '../core/ids.ts';
import { changesBetween, type Entry, entryAt, inOrder, type Tree } from '../core/workspace/tree.ts';
import type { Looked } from './port.ts';

export const DIGEST_BYTES = 32;

type Seen = Extract<Looked, { readonly status: 'seen' }>;

/** What of a tree is other than in the one before. */
export function changedEntries(before: Tree, after: Tree): Pick<Seen, 'set' | 'gone'> {
  const changes = changesBetween(before, after);
  return {
    set: bare(changes.flatMap(({ path }) => entryAt(after, path) ?? [])),
    gone: changes.flatMap(({ path, change }) => (change === 'removed' ? [path] : [])),
  };
}

/** The tree that is meant. */
export function applied(before: Tree, { set, gone }: Pick<Seen, 'set' | 'gone'>): Tree {
  const entries = new Map(before.map((entry) => [entry.path, entry]));
  for (const path of gone) entries.delete(path);
  for (const entry of set) entries.set(entry.path, entry);
  return inOrder([...entries.values()]);
}

export const bare = (tree: Tree): Tree => tree.map((entry) => withBlobs(entry, () => '' as BlobRef));

export const named = (tree: Tree): Tree =>
  tree.map((entry) => withBlobs(entry, (digest) => digest as BlobRef));

export function withBlobs(entry: Entry, blobOf: (digest: string) => BlobRef): Entry {
  if (entry.kind !== 'file') return entry;
  return { ...entry, chunks: entry.chunks.map(({ digest }) => ({ digest, blob: blobOf(digest) })) };
}

/** All digests behind each other, as bytes. */
export function packedDigests(digests: Iterable<string>): Uint8Array {
  return Buffer.concat([...digests].map((digest) => Buffer.from(digest, 'hex')));
}
