/** The slice of the state that is about a kernel of real processes: what lives in it, and what was lost. */

import type { KernelLost, KernelNoticed, KernelObject } from './event.ts';

export interface Kernel {
  /** What lives in it, by the last look. */
  readonly live: readonly KernelObject[];
  /** Which kernel that was, as its sandbox counts them; 0 before the first. */
  readonly process: number;
  /** Grows whenever something was lost, and is shown to the model. */
  readonly generation: number;
  /** Lease epoch of the last look. */
  readonly attended: number | null;
  /** Of the last loss, and when that was noted. */
  readonly lost: readonly KernelLost[];
  readonly lostAt: number;
  /** What is to be given up and when, as was said of one rest; that rest may be over by now. */
  readonly notice:
    | (Pick<KernelNoticed, 'since' | 'until' | 'unsaved'> & {
        /** It is over: what it names is being given up. */
        readonly isOver: boolean;
      })
    | null;
  /** What is gone of that which a notice had named: of the last one of which anything is. */
  readonly gone: Pick<KernelNoticed, 'since' | 'until' | 'unsaved'> | null;
}

export const NO_KERNEL: Kernel = {
  live: [],
  process: 0,
  generation: 1,
  attended: null,
  lost: [],
  lostAt: 0,
  notice: null,
  gone: null,
};
