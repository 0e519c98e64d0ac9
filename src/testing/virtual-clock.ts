/** A clock that stands still until it is moved. One per simulated world; all runtimes in it share the time. */

import type { Clock } from '../lib/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

export interface VirtualClock extends Clock {
  /** Moves to the earliest timer and fires it; false when there is none. */
  advance(): boolean;
  /** Moves by `ms`, firing what falls due on the way. */
  elapse(ms: number): void;
  /** Sets the clock on the wall forward or back; what is waited for takes as long as before. */
  jump(ms: number): void;
}

export function virtualClock(start = Date.UTC(2026, 2, 2, 9)): VirtualClock {
  let now = 0;
  let wall = start;
  let order = 0;
  let timers: Timer[] = [];

  function next(): Timer | undefined {
    return timers.reduce<Timer | undefined>(
      (first, timer) =>
        !first || timer.at < first.at || (timer.at === first.at && timer.order < first.order) ? timer : first,
      undefined,
    );
  }

  function fire(timer: Timer): void {
    timers = timers.filter((other) => other !== timer);
    now = Math.max(now, timer.at);
    timer.fire();
  }

  return {
    now: () => wall + now,
    monotonic: () => now,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const timer: Timer = { at: now + Math.max(0, ms), order: order++, fire: done };
        timers.push(timer);
        function done(): void {
          timers = timers.filter((other) => other !== timer);
          signal?.removeEventListener('abort', done);
          resolve();
        }
        signal?.addEventListener('abort', done, { once: true });
      });
    },
    advance() {
      const timer = next();
      if (timer) fire(timer);
      return timer !== undefined;
    },
    elapse(ms) {
      const end = now + ms;
      for (let timer = next(); timer && timer.at <= end; timer = next()) fire(timer);
      now = end;
    },
    jump(ms) {
      wall += ms;
    },
  };
}
