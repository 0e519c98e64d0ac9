/** The event kinds of a kernel of real processes (Python): what lives in it, what is lost, and what is to be given up. */

import type { EffectId } from '../ids.ts';

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

export type KernelEvent = KernelNoted | KernelNoticed | KernelReleased;

export interface KernelNoted {
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

/**
 * The session rests, and what stands here keeps its kernel in memory: it cannot be kept by value. By the owner's policy it
 * is given up at `until`, unless something comes in before. Nothing named: nothing is to be given up any more.
 */
export interface KernelNoticed {
  readonly kind: 'kernel.noticed';
  /** Since when the session rests: the notice is about this rest. */
  readonly since: number;
  readonly until: number;
  /** `why` it cannot be kept. */
  readonly unsaved: readonly KernelLost[];
}

/** The notice of this rest is over and nothing has come in: from here on the kernel is given up, with what was named. */
export interface KernelReleased {
  readonly kind: 'kernel.released';
  readonly since: number;
}
