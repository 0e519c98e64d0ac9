/**
 * Trees: what stands in a session's folder, as data. Pure.
 *
 * E1  Entries are sorted by path and each folder above an entry is an entry: equal folders have equal trees.
 * E2  `digest` is over paths, kinds, modes, sizes and contents and nothing else. Where the bytes are kept is no part of it,
 *     so a tree restored elsewhere, or kept again under another key, has the same digest.
 */

import { sha256 } from '../../lib/digest.ts';
import type { BlobRef } from '../ids.ts';

/** A piece of a file: what it is, and the blob that keeps it. */
export interface Chunk {
  readonly digest: string;
  readonly blob: BlobRef;
}

export type Entry = FileEntry | LinkEntry | FolderEntry;

export interface FileEntry {
  readonly kind: 'file';
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  /** SHA-256 of the whole file. */
  readonly digest: string;
  /** In their order, each of `CHUNK_BYTES` but the last; an empty file has none. */
  readonly chunks: readonly Chunk[];
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly path: string;
  /** As it is written in the link. It is kept and never followed. */
  readonly target: string;
}

export interface FolderEntry {
  readonly kind: 'folder';
  readonly path: string;
  readonly mode: number;
}

export type Tree = readonly Entry[];

export const EMPTY_TREE: Tree = [];

/** A megabyte: a file of any size goes through memory in pieces, and what is appended to it is all that is kept anew. */
export const CHUNK_BYTES = 1024 * 1024;

/** A tree as the log names it. */
export interface TreeRef {
  /** The blob that its pages are found from. */
  readonly root: BlobRef;
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
}

export interface TreeChange {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'removed';
}

export function digestOfTree(tree: Tree): string {
  return sha256(tree.map(spelled).join('\n'));
}

function spelled(entry: Entry): string {
  const { kind, path } = entry;
  switch (kind) {
    case 'file':
      return JSON.stringify([kind, path, entry.mode, entry.size, entry.digest]);
    case 'link':
      return JSON.stringify([kind, path, entry.target]);
    case 'folder':
      return JSON.stringify([kind, path, entry.mode]);
  }
}

export const isSameEntry = (a: Entry, b: Entry): boolean => a === b || spelled(a) === spelled(b);

/** What would have to be done to `before` to have `after`, in the order of the paths. */
export function changesBetween(before: Tree, after: Tree): readonly TreeChange[] {
  const changes: TreeChange[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const old = before[i];
    const now = after[j];
    if (old && (!now || old.path < now.path)) {
      changes.push({ path: old.path, change: 'removed' });
      i++;
    } else if (now && (!old || now.path < old.path)) {
      changes.push({ path: now.path, change: 'added' });
      j++;
    } else if (old && now) {
      if (!isSameEntry(old, now)) changes.push({ path: now.path, change: 'changed' });
      i++;
      j++;
    }
  }
  return changes;
}

/** The entry at a path; E1 makes it a search by halves. */
export function entryAt(tree: Tree, path: string): Entry | undefined {
  let low = 0;
  let high = tree.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const entry = tree[middle] as Entry;
    if (entry.path === path) return entry;
    if (entry.path < path) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

export const inOrder = (entries: readonly Entry[]): Tree =>
  [...entries].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));

export function sizeOfTree(tree: Tree): { readonly files: number; readonly bytes: number } {
  let files = 0;
  let bytes = 0;
  for (const entry of tree) {
    if (entry.kind !== 'file') continue;
    files++;
    bytes += entry.size;
  }
  return { files, bytes };
}

/** The entries of `over` in place of what stood at their paths; everything else stays. */
export function overlay(under: Tree, over: Tree): Tree {
  const entries = new Map(under.map((entry) => [entry.path, entry]));
  for (const entry of over) {
    const old = entries.get(entry.path);
    if (old?.kind === 'folder' && entry.kind !== 'folder') {
      for (const path of [...entries.keys()]) if (path.startsWith(`${entry.path}/`)) entries.delete(path);
    }
    entries.set(entry.path, entry);
  }
  return inOrder([...entries.values()]);
}
