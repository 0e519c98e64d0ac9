/** The slice of the state that is about live objects: the heap of the code sandbox, its cells and what they wait for. */

import type { CallId, CellId, DecisionId, EffectId, TimerId } from '../ids.ts';
import type { HeapImage, LiveObject, Lost, Rung } from './event.ts';

export interface Heap {
  /** The image chain that stands; null while no cell has run. */
  readonly chain: ImageChain | null;
  /** Lease epoch in which a live heap stands on that chain; null when none does. */
  readonly opened: number | null;
  /** False from when a heap is opened until its memory is given up: so long, some worker may hold it. */
  readonly parked: boolean;
  readonly cell: RunningCell | null;
  /** Cells that were suspended and have not ended. */
  readonly suspended: readonly RunningCell[];
  /** Calls that the guest waits for. */
  readonly pending: readonly Pending[];
  readonly live: readonly (LiveObject & { readonly cell: CellId })[];
  /** Grows with every restore below `exact` and is shown to the model. */
  readonly generation: number;
  readonly restored: {
    readonly rung: Rung;
    readonly at: number;
    readonly note: string;
    readonly lost: readonly Lost[];
  } | null;
}

export const NO_HEAP: Heap = {
  chain: null,
  opened: null,
  parked: true,
  cell: null,
  suspended: [],
  pending: [],
  live: [],
  generation: 1,
  restored: null,
};

export interface ImageChain {
  readonly base: HeapImage;
  readonly deltas: readonly HeapImage[];
  readonly seq: number;
}

export interface RunningCell {
  readonly id: CellId;
  readonly call: CallId;
  readonly code: string;
  readonly startedAt: number;
  /** False until its first image is committed. */
  readonly committed: boolean;
  readonly output: string;
  /** Code of another cell has moved the heap since: to go back to before this one would let that do its calls again. */
  readonly isMixed: boolean;
  /** What an abort brings back. */
  readonly before: Pick<Heap, 'chain' | 'pending' | 'live'>;
}

/** A host call that the guest awaits: an effect, a timer, a person or nothing but the delivery; answered or not. */
export type Pending = { readonly guestCall: number; readonly cell: CellId } & (
  | { readonly on: 'effect'; readonly effect: EffectId; readonly answer: Delivery | null }
  | { readonly on: 'timer'; readonly timer: TimerId; readonly due: number; readonly answer: Delivery | null }
  | { readonly on: 'decision'; readonly decision: DecisionId; readonly answer: Delivery | null }
  | { readonly on: 'note'; readonly answer: Delivery }
);

/** A settlement on its way into the guest; `seq` is its place in the log and so in the order of delivery. */
export interface Delivery {
  readonly seq: number;
  readonly at: number;
  readonly ok: boolean;
  readonly json: string;
}

/** The image that the chain ends in. */
export const headImage = (chain: ImageChain): HeapImage => chain.deltas.at(-1) ?? chain.base;
