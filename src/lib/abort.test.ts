import { describe, expect, it } from 'vitest';
import { Abort } from './abort.ts';

describe('an abort', () => {
  it('is heard through a signal that was asked for before, and through one that is asked for after', () => {
    const abort = new Abort();
    const { signal } = abort;
    expect([abort.aborted, signal.aborted]).toEqual([false, false]);
    abort.abort();
    expect([abort.aborted, signal.aborted]).toEqual([true, true]);
    expect(abort.signal).toBe(signal);

    const silent = new Abort();
    silent.abort();
    expect(silent.signal.aborted).toBe(true);
  });

  it('comes with the outer one, also when that came first', () => {
    const outer = new Abort();
    const inner = new Abort(outer);
    const { signal } = inner;
    outer.abort();
    expect([inner.aborted, signal.aborted, new Abort(outer).aborted]).toEqual([true, true, true]);
  });

  it('leaves the outer one alone, and is left alone once it is released', () => {
    const outer = new Abort();
    const [first, second] = [new Abort(outer), new Abort(outer)];
    first.abort();
    expect([outer.aborted, second.aborted]).toEqual([false, false]);
    second.release();
    outer.abort();
    expect(second.aborted).toBe(false);
  });
});
