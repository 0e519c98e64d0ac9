/** The event kinds of the code sandbox: cells, and the heap that they move. */

import type { Awaited } from '../event.ts';
import type { BlobRef, CallId, CellId } from '../ids.ts';

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
  /** Of a base: bytes of memory of the heap, so that they can be made ready while the image is fetched. */
  readonly memoryBytes?: number;
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

export type HeapEvent =
  | {
      readonly kind: 'cell.started';
      readonly cell: CellId;
      readonly call: CallId;
      readonly source: string;
      /** The source as it was run: types stripped, declarations rewritten. */
      readonly code: string;
    }
  | {
      readonly kind: 'cell.committed';
      readonly cell: CellId;
      /** What moved the heap: the start of the cell, or the settlement of one of its calls. */
      readonly moved: { readonly by: 'run' } | { readonly by: 'delivery'; readonly guestCall: number };
      readonly image: HeapImage;
      readonly output: string;
      /** Cells that came to their end here; a delivery can end an earlier, suspended one. */
      readonly ended: readonly { readonly cell: CellId; readonly end: CellEnd }[];
      readonly live: { readonly set: readonly LiveObject[]; readonly gone: readonly string[] };
      readonly fuel: number;
    }
  | {
      readonly kind: 'cell.aborted';
      readonly cell: CellId;
      readonly reason: AbortReason;
      readonly message: string;
      readonly output: string;
    }
  | { readonly kind: 'cell.suspended'; readonly cell: CellId; readonly on: Awaited }
  | {
      readonly kind: 'heap.restored';
      readonly epoch: number;
      readonly rung: Rung;
      readonly note: string;
      readonly lost: readonly Lost[];
      /** The image that the session stands on from here, when the old one could not be used. */
      readonly image: HeapImage | null;
    }
  | { readonly kind: 'heap.based'; readonly image: HeapImage };
