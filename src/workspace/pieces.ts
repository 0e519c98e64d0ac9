/** What every adapter says and asks alike: pieces that are known, files that are not there, bytes that are lost. */

import { OutlastError } from '../core/error.ts';
import type { BlobRef } from '../core/ids.ts';
import type { Tree } from '../core/workspace/tree.ts';

/** The pieces that a tree names, by their digests. */
export function piecesOf(tree: Tree): Map<string, BlobRef> {
  const pieces = new Map<string, BlobRef>();
  for (const entry of tree) {
    if (entry.kind === 'file') for (const { digest, blob } of entry.chunks) pieces.set(digest, blob);
  }
  return pieces;
}

/** The reason why a piece is lost; a store that fails for the moment is no such reason. */
export function whyLost(error: unknown): string {
  const isLoss =
    error instanceof OutlastError && (error.code === 'blob.missing' || error.code === 'blob.forged');
  if (!isLoss) throw error;
  return error.message;
}

export const none = (path: string): OutlastError =>
  new OutlastError('files.none', `There is no file "${path}".`, { next: 'list the files' });

export const isFolder = (path: string): OutlastError =>
  new OutlastError('files.none', `"${path}" is a folder.`, { next: 'name a file' });

/** The machine could not do it: permissions, a full disk. */
export const failed = (path: string, cause: unknown): OutlastError =>
  new OutlastError('files.failed', `${path}: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
  });

export const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'ENOENT';

export const isNone = (error: unknown): boolean =>
  error instanceof OutlastError && error.code === 'files.none';
