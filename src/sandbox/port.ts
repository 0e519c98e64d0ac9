import type { AbortReason, CellEnd, HeapImage, LiveObject } from '../core/heap/event.ts';
import type { Limits } from '../core/limits.ts';
/**
 * The port to a sandbox whose live objects survive.
 *
 * X1  The heap is the fold of its journal: cells and deliveries, each applied to rest. Same journal, same bytes.
 * X2  Calls of the guest queue until the guest is at rest; `apply` returns them all, with the image that holds them.
 * X3  Nothing from outside enters the guest but a `HeapInput`; nothing leaves but a `HeapStep`.
 * X4  After `aborted` the live heap is gone: the caller opens the last committed image again.
 */

/** Turns what a model wrote into what the engine runs. Pure; throws nothing. */
export type Prepared =
  | { readonly ok: true; readonly code: string }
  | { readonly ok: false; readonly message: string };

export type HeapInput =
  | { readonly kind: 'run'; readonly cell: string; readonly code: string; readonly at: number }
  | {
      readonly kind: 'delivery';
      readonly guestCall: number;
      readonly ok: boolean;
      /** Result, or `{name, code, message}` of the error to throw in the guest. */
      readonly json: string;
      readonly at: number;
    };

/** A host call that the guest made: `fetch`, `timer` or `tools.NAME`, arguments as JSON. */
export interface GuestCall {
  /** 1, 2, 3 … over the life of the heap; kept in the heap. */
  readonly guestCall: number;
  readonly name: string;
  readonly args: string;
}

/** An encoded image, not yet sealed; the caller stores it and commits its reference. */
export type TakenImage = Omit<HeapImage, 'blob' | 'bytes'> & { readonly data: Uint8Array };

export type HeapStep =
  | {
      readonly kind: 'rest';
      readonly image: TakenImage;
      readonly calls: readonly GuestCall[];
      /** Every cell that came to its end in this step (a delivery can end a suspended one). */
      readonly ended: readonly { readonly cell: string; readonly end: CellEnd }[];
      /** What was printed, clipped at the output limit. */
      readonly output: string;
      /** All live objects now. */
      readonly live: readonly LiveObject[];
      readonly fuel: number;
    }
  | {
      readonly kind: 'aborted';
      readonly reason: AbortReason;
      readonly message: string;
      readonly output: string;
    };

/** The images that lead to the committed heap: one base and the deltas after it, decoded and opened. */
export interface HeapChain {
  readonly engine: string;
  readonly digest: string;
  readonly parts: readonly { readonly form: 'base' | 'delta'; readonly data: Uint8Array }[];
}

/** A heap in memory. Not safe for two calls at once; the runtime makes one at a time. */
export interface LiveHeap {
  /** Applies one journal entry and runs the guest to rest. Aborts soon when `signal` does. */
  apply(input: HeapInput, signal: AbortSignal): Promise<HeapStep>;
  /** Takes a new base image of the heap as it stands. */
  base(): Promise<TakenImage>;
  /** Frees memory and thread; resolves when they are gone. */
  close(): Promise<void>;
}

/** A step of a replay: an input with the digest that the log has for it, or a restore that took place there. */
export type JournalEntry =
  | { readonly kind: 'apply'; readonly input: HeapInput; readonly digest: string; readonly seq: number }
  | { readonly kind: 'restored'; readonly seq: number };

export interface ReplayResult {
  readonly heap: LiveHeap;
  /** Entries applied. */
  readonly applied: number;
  /** Where the heap first differed from what the log says; null when it never did. */
  readonly diverged: { readonly seq: number; readonly expected: string; readonly found: string } | null;
  readonly digest: string;
}

export interface OpenOptions {
  readonly seed: number;
  readonly limits: Limits;
}

export interface Sandbox {
  /** SHA-256 of the engine build that new heaps get. */
  readonly engine: string;
  prepare(source: string): Prepared;
  /** A heap of at least so much memory is about to be restored: whatever can be made ready beside, is. A hint. */
  foresee?(memoryBytes: number): void;
  /** A heap that nothing has run in. */
  create(options: OpenOptions): Promise<LiveHeap>;
  /**
   * The exact heap of a chain, whose bytes it takes over; throws `OutlastError` `blob.forged` or `blob.missing` (the
   * engine build) when it cannot. The last of the checks may come after, before anything moves the heap: then `apply`
   * and `base` of it throw `blob.forged`.
   */
  restore(chain: HeapChain, options: OpenOptions): Promise<LiveHeap>;
  /** Runs a journal from nothing. No effect is run: deliveries come from the journal. */
  replay(journal: AsyncIterable<JournalEntry>, options: OpenOptions): Promise<ReplayResult>;
  /** Ends every thread. */
  close(): Promise<void>;
}
