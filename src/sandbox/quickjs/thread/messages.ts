/**
 * What a heap's thread and its owner say to each other: one request at a time, each with one answer. Before the first
 * the owner may say what to prepare for, which has none.
 */

import type { HeapChain, HeapInput, HeapStep, OpenOptions, TakenImage } from '../../port.ts';
import type { Build } from '../build.ts';
import type { ReplayStep } from '../heap.ts';

export type Request =
  | { readonly ask: 'create'; readonly build: Build; readonly options: OpenOptions }
  | {
      readonly ask: 'restore';
      readonly build: Build;
      readonly chain: HeapChain;
      readonly options: OpenOptions;
    }
  | { readonly ask: 'apply'; readonly input: HeapInput }
  | { readonly ask: 'replay'; readonly input: HeapInput }
  | { readonly ask: 'base' };

export type Notice =
  /** A heap of this build may be restored here. */
  | { readonly prepare: Build }
  /** It will soon be, and have at least so many bytes of memory. */
  | { readonly foresee: number };

export type Answer =
  | { readonly say: 'opened' }
  | { readonly say: 'applied'; readonly step: HeapStep }
  | { readonly say: 'replayed'; readonly step: ReplayStep }
  | { readonly say: 'based'; readonly image: TakenImage }
  | { readonly say: 'failed'; readonly code: string | null; readonly message: string; readonly next: string };

/** Words of the memory that thread and owner share, so that they can signal while the guest runs. */
export const SHARED = { interrupt: 0, phase: 1 } as const;

/** Whether the guest runs now, so that the owner never ends a thread that only packs its image. */
export const PHASE = { waiting: 0, running: 1, atRest: 2 } as const;

/** How many times longer than the run a replay may take, on a machine that has more to do. */
export const REPLAY_PATIENCE = 10;
