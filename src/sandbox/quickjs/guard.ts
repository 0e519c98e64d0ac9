import type { AbortReason } from '../../core/heap/event.ts';
/**
 * When a running guest must stop: asked by the engine about every 10,000 operations, and between jobs.
 *
 * D1  A guard never changes the heap; it only ends it. So two guards, one strict and one mild, lead to the same bytes.
 */

export interface Guard {
  /** The entry begins now. */
  begin(): void;
  /** Why the guest must stop, or null. `fuel` counts the looks since the entry began. */
  check(fuel: number): AbortReason | null;
}

/** Looks of the engine that fit into a millisecond: the inline variant has no clock and counts these. */
const FUEL_PER_MS = 4;

/** Stops by the amount of work, which is the same on every machine, and by a signal. */
export function fuelGuard(cellMs: number, signal: () => AbortSignal | null): Guard {
  return {
    begin() {},
    check: (fuel) => (fuel > cellMs * FUEL_PER_MS ? 'time' : signal()?.aborted ? 'interrupted' : null),
  };
}

/** Stops by the clock, and when someone outside the thread has asked for it. */
export function clockGuard(cellMs: number, now: () => number, isInterrupted: () => boolean): Guard {
  let deadline = 0;
  return {
    begin() {
      deadline = now() + cellMs;
    },
    check: () => (isInterrupted() ? 'interrupted' : now() > deadline ? 'time' : null),
  };
}
