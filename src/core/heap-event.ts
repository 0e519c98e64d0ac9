/** What events say of the sandbox's heap: images of it, what lives in it, how a restore and a cell came to their end. */

import type { BlobRef, CellId } from './ids.ts';

/** A name that lives in the sandbox's heap between cells. */
export interface LiveObject {
  readonly name: string;
  /** Constructor or primitive type. */
  readonly type: string;
  /** Elements, entries, members or characters; null where size has no meaning. */
  readonly size: number | null;
}

/** A committed state of the heap: what to load to have it back. */
export interface HeapImage {
  /** `base` stands alone; `delta` is the XOR against the image before. */
  readonly form: 'base' | 'delta';
  readonly blob: BlobRef;
  /** Bytes stored. */
  readonly bytes: number;
  /** SHA-256 of the engine build that alone can read this image. */
  readonly engine: string;
  /** Digest over all pages of the heap: two heaps are equal when their digests are. */
  readonly digest: string;
}

/** How far down the ladder a restore had to go. */
export type Rung = 'attached' | 'exact' | 'replayed' | 'fresh';

export interface Lost {
  readonly name: string;
  readonly type: string;
  readonly cell: CellId;
  readonly why: string;
}

export type CellEnd =
  | { readonly status: 'done'; readonly value: string }
  | { readonly status: 'failed'; readonly error: string };

export type AbortReason = 'time' | 'memory' | 'output' | 'poisoned' | 'lost' | 'interrupted' | 'stuck';
