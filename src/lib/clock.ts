/**
 * Time as a port. Nothing in core, context, runtime or driver reads the machine's clock or sets a timer by
 * itself; the simulator puts a virtual clock here and moves it.
 */

export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds that only grow; for deadlines inside one process. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: Interruption): Promise<void>;
}

/** As much of an AbortSignal as a sleep needs. */
export interface Interruption {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Ends one sleep that is not needed any more. In a wait on every step an AbortController costs more than the wait. */
export class Nudge implements Interruption {
  aborted = false;
  private listener: (() => void) | null = null;

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listener = listener;
  }

  removeEventListener(): void {
    this.listener = null;
  }

  give(): void {
    this.aborted = true;
    this.listener?.();
  }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      // Node clamps longer waits to 1 ms; a later look at the clock makes an early wake harmless.
      const timer = setTimeout(done, Math.min(Math.max(0, ms), 2 ** 31 - 1));
      function done(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
      signal?.addEventListener('abort', done, { once: true });
    });
  },
};
