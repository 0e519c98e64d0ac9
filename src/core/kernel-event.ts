/** The event kind of a kernel of real processes (Python): what lives in it, and what is lost. */

import type { EffectId } from './ids.ts';

/** A name in the kernel between calls. */
export interface KernelObject {
  readonly name: string;
  readonly type: string;
  readonly size: number | null;
  /** The call whose code last bound it; its code is its arguments. */
  readonly effect: EffectId;
}

export interface KernelLost extends KernelObject {
  readonly why: string;
}

export interface KernelEvent {
  readonly kind: 'kernel.noted';
  readonly epoch: number;
  /** Which kernel it is, as its sandbox counts them. */
  readonly process: number;
  readonly set: readonly KernelObject[];
  /** Names that code has deleted. */
  readonly gone: readonly string[];
  /** Names that nobody deleted and that are not there any more. */
  readonly lost: readonly KernelLost[];
}
