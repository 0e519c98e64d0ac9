/**
 * One life of a runtime in the simulator: every call through a port is a numbered boundary with two sides, and the
 * life can end at any of them. A dead life does nothing any more and is told nothing: its calls never return.
 *
 * B1  A new port method is a new boundary by itself: ports are wrapped by proxy, not by list.
 * B2  A life that crosses boundary after boundary while the clock stands still is held, so that it lets go of the machine.
 */

import type { Clock } from '../../lib/clock.ts';
import type { VirtualClock } from '../virtual-clock.ts';

export type Side = 'before' | 'after';

export interface Crash {
  /** 1, 2, 3 … in the order in which this life crosses boundaries. */
  readonly boundary: number;
  readonly side: Side;
}

export interface Life {
  readonly clock: Clock;
  readonly dead: boolean;
  /** `port.method` of each boundary crossed so far. */
  readonly boundaries: readonly string[];
  /** B2. */
  readonly isCircling: boolean;
  /** Calls that wait for something real (WebAssembly), not for the virtual clock. */
  readonly busy: number;
  /** Wraps a port so that each call of it is a boundary. */
  port<T extends object>(name: string, target: T, options?: { real?: boolean }): T;
  end(): void;
  /** True from the freeze on, until thawed: a machine that stopped and does not know it. */
  readonly frozen: boolean;
  thaw(): void;
}

interface Options {
  readonly clock: VirtualClock;
  readonly crash?: Crash | null;
  /** Where the machine freezes instead of dying; it goes on when it is thawed, as if nothing had been. */
  readonly freeze?: Crash | null;
  /** B2: how many boundaries are too many; by default none. */
  readonly circles?: number;
  /** Called on each side of each boundary, before the crash is considered; sends are injected here. */
  readonly at?: (boundary: number, side: Side) => Promise<void> | void;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

export function life({ clock, crash = null, freeze = null, circles = Infinity, at }: Options): Life {
  const boundaries: string[] = [];
  let thawed: Promise<void> | null = null;
  let thaw = (): void => {};
  let frozen = false;
  let dead = false;
  let busy = 0;
  let instant = clock.monotonic();
  let crossedInIt = 0;

  async function cross<T>(name: string, call: () => Promise<T>, real: boolean): Promise<T> {
    if (dead || isCircling()) return never();
    const boundary = boundaries.push(name);
    await side(boundary, 'before');
    if (dead) return never();
    if (real) busy++;
    const settled = await call().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (real) busy--;
    if (dead) return never();
    await side(boundary, 'after');
    if (dead) return never();
    if ('error' in settled) throw settled.error;
    return settled.value;
  }

  function isCircling(): boolean {
    if (clock.monotonic() !== instant) [instant, crossedInIt] = [clock.monotonic(), 0];
    return ++crossedInIt > circles;
  }

  async function side(boundary: number, where: Side): Promise<void> {
    await at?.(boundary, where);
    if (freeze?.boundary === boundary && freeze.side === where) {
      frozen = true;
      thawed = new Promise((resolve) => {
        thaw = resolve;
      });
    }
    if (frozen) await thawed;
    if (crash?.boundary === boundary && crash.side === where) dead = true;
  }

  return {
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) =>
        dead ? never() : clock.sleep(ms, signal).then(() => (dead ? never() : undefined)),
    },
    get dead() {
      return dead;
    },
    boundaries,
    get isCircling() {
      return crossedInIt > circles;
    },
    get busy() {
      return busy;
    },
    port(name, target, { real = false } = {}) {
      return new Proxy(target, {
        get(object, key) {
          const member: unknown = Reflect.get(object, key);
          if (typeof member !== 'function' || typeof key !== 'string') return member;
          const call = (...args: unknown[]): unknown => member.apply(object, args);
          if (SYNCHRONOUS.has(key)) return call;
          return (...args: unknown[]) => cross(`${name}.${key}`, async () => call(...args), real);
        },
      });
    },
    end() {
      dead = true;
    },
    get frozen() {
      return frozen;
    },
    thaw() {
      frozen = false;
      thaw();
    },
  };
}

/** Pure members of ports: they reach nothing outside. */
const SYNCHRONOUS = new Set(['plan', 'prepare']);
