/**
 * A tree as blobs: pages of entries, cut by content, and above them pages that name pages, up to one root.
 *
 * G1  Where a page ends depends on the entry there and on nothing else. So a change in one place makes one new page, and
 *     one on each floor above it: the commit of five changed files among two thousand is a few kilobytes.
 * G2  A page that is as it was is not kept again; `known` has the pages of the tree before, by their digests.
 */

import type { BlobRef } from '../../core/ids.ts';
import type { Chunk, Entry, Tree } from '../../core/workspace/tree.ts';
import { assert } from '../../lib/assert.ts';
import { sha256 } from '../../lib/digest.ts';

/** Pages by their digest. */
export type Pages = ReadonlyMap<string, BlobRef>;

export interface Paged {
  readonly root: BlobRef;
  readonly pages: Pages;
}

/** One entry in so many ends a page. */
const CUT = 16;
const MOST = 8 * CUT;

type Row =
  | readonly ['f', string, number, number, string, readonly (readonly [string, string])[]]
  | readonly ['l', string, string]
  | readonly ['d', string, number];

type Page =
  | { readonly floor: 0; readonly rows: readonly Row[] }
  | { readonly floor: number; readonly pages: readonly Chunk[] };

export async function write(
  tree: Tree,
  known: Pages,
  keep: (bytes: Uint8Array) => Promise<BlobRef>,
): Promise<Paged> {
  const pages = new Map<string, BlobRef>();
  const put = async (page: Page): Promise<Chunk> => {
    const bytes = new TextEncoder().encode(JSON.stringify(page));
    const digest = sha256(bytes);
    const blob = known.get(digest) ?? pages.get(digest) ?? (await keep(bytes));
    pages.set(digest, blob);
    return { digest, blob };
  };
  let floor = 0;
  let above: Chunk[] = [];
  for (const entries of cut(tree, ({ path }) => sha256(path)))
    above.push(await put({ floor: 0, rows: entries.map(row) }));
  while (above.length !== 1) {
    floor++;
    const next: Chunk[] = [];
    for (const chunks of cut(above, ({ digest }) => digest)) next.push(await put({ floor, pages: chunks }));
    above = next;
  }
  return { root: (above[0] as Chunk).blob, pages };
}

/** Throws what `open` throws when a page is lost. */
export async function read(
  root: BlobRef,
  open: (blob: BlobRef) => Promise<Uint8Array>,
): Promise<{ readonly tree: Tree; readonly pages: Pages }> {
  const pages = new Map<string, BlobRef>();
  const tree: Entry[] = [];
  const visit = async (blob: BlobRef): Promise<void> => {
    const bytes = await open(blob);
    pages.set(sha256(bytes), blob);
    const page = JSON.parse(new TextDecoder().decode(bytes)) as Page;
    if ('rows' in page) tree.push(...page.rows.map(entry));
    else for (const chunk of page.pages) await visit(chunk.blob);
  };
  await visit(root);
  return { tree, pages };
}

/** G1. At least one part, and none of it empty but the only one. */
function cut<T>(items: readonly T[], hash: (item: T) => string): readonly (readonly T[])[] {
  const parts: T[][] = [[]];
  for (const item of items) {
    const part = parts.at(-1) as T[];
    part.push(item);
    const isEnd = Number.parseInt(hash(item).slice(0, 8), 16) % CUT === 0;
    if (isEnd || part.length >= MOST) parts.push([]);
  }
  return parts.length > 1 && parts.at(-1)?.length === 0 ? parts.slice(0, -1) : parts;
}

function row(one: Entry): Row {
  switch (one.kind) {
    case 'file':
      return [
        'f',
        one.path,
        one.mode,
        one.size,
        one.digest,
        one.chunks.map(({ digest, blob }) => [digest, blob]),
      ];
    case 'link':
      return ['l', one.path, one.target];
    case 'folder':
      return ['d', one.path, one.mode];
  }
}

function entry(one: Row): Entry {
  switch (one[0]) {
    case 'f': {
      const [, path, mode, size, digest, chunks] = one;
      const kept = chunks.map(([of, blob]) => ({ digest: of, blob: blob as BlobRef }));
      return { kind: 'file', path, mode, size, digest, chunks: kept };
    }
    case 'l':
      return { kind: 'link', path: one[1], target: one[2] };
    case 'd':
      return { kind: 'folder', path: one[1], mode: one[2] };
    default:
      assert(false, 'a page has rows of files, links and folders');
      throw one;
  }
}
