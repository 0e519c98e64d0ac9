import { describe, expect, it } from 'vitest';
import { memoryStore } from './memory.ts';
import { append, handClock, sampleCommit, sampleId } from './sample.ts';
import { storeSuite } from './suite.ts';

storeSuite({
  name: 'memory',
  async open() {
    const clock = handClock();
    const store = memoryStore(clock);
    const reopen = async () => {
      store.bury();
      return store;
    };
    return { store, advance: clock.advance, reopen };
  },
});

describe('memory store', () => {
  const a = sampleId(1);
  const b = sampleId(2);

  it('M1 resolves within microtasks', async () => {
    const store = memoryStore(handClock());
    const order: string[] = [];
    setImmediate(() => order.push('macrotask'));
    for (const n of [0, 1, 2]) order.push((await store.commit(sampleCommit(a, n))).status);
    expect(order).toEqual(['committed', 'committed', 'committed']);
  });

  it('M3 keeps its own copy', async () => {
    const store = memoryStore(handClock());
    const commit = sampleCommit(a, 0);
    await store.commit(commit);
    Object.assign(commit.events[0] as object, { body: 'changed' });
    const read = await store.read(a, 0, 1);
    expect(read[0]?.body).toBe('{"n":1}');
    expect(() => Object.assign(read[0] as object, { body: 'changed' })).toThrow(TypeError);
  });

  it('buries one holder and leaves the others their leases', async () => {
    const store = memoryStore(handClock());
    await append(store, a);
    await append(store, b);
    await store.acquire(a, 'w1', 1000);
    await store.acquire(b, 'w2', 1000);
    store.bury('w1');
    expect(await store.acquire(a, 'w3', 1000)).toEqual({ status: 'acquired', epoch: 2, clean: false });
    expect(await store.acquire(b, 'w3', 1000)).toMatchObject({ status: 'held', holder: 'w2' });
  });
});
