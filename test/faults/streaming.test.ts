/** Streaming clients: whoever reads from an offset has each event once and in order, in bounded memory. */

import { expect, it } from 'vitest';
import type { Event, ForeignEvent } from '../../src/core/event.ts';
import { fold } from '../../src/core/evolve.ts';
import type { SessionId } from '../../src/core/ids.ts';
import { encode } from '../../src/core/upcast.ts';
import type { Row } from '../../src/store/port.ts';
import { calls, gate, type Harness, read, say } from '../../src/testing/harness.ts';
import { given, heldBytes, responses } from './kit.ts';

it('B015 a client that drops at each event and comes back with its last one misses none and sees none twice', async () => {
  const h = given({
    model: async (request) => {
      await h.clock.sleep(50);
      return read(request).results.length === 0
        ? calls(['pay', { what: 'x' }], ['look', { what: 'y' }])
        : say('done');
    },
  });
  const id = await h.start('go');
  const seen: (Event | ForeignEvent)[] = [];
  const client = async () => {
    for (;;) {
      const dropped = new AbortController();
      const after = seen.at(-1)?.seq ?? 0;
      for await (const event of h.api.follow(id, { after, signal: dropped.signal })) {
        if (event.kind === 'whisper') continue;
        seen.push(event);
        if (event.kind === 'response.surfaced' && event.turn === 2) return;
        // The connection is gone with this event; the next one starts behind it.
        break;
      }
    }
  };
  const connected = client();
  await h.rest(id);
  await h.done(h.api.send(id, 'again'));
  await h.done(connected);
  await h.rest(id);

  const log = await h.log(id);
  expect(seen).toEqual(log.slice(0, seen.length));
  expect(fold(seen)).toEqual(fold(log.slice(0, seen.length)));
  expect(log.length - seen.length).toBe(0);
});

it('B015 a snapshot and a stream from its head leave no gap', async () => {
  const held = gate();
  const h = given({ model: [() => held.pass(say('one')), say('two')] });
  const id = await h.start('go');
  await h.until(() => held.reached === 1, 'a model that writes');
  const { head } = await h.done(h.api.inspect(id));
  const snapshot = fold(await h.done(h.api.events(id, 0, head)));
  held.open();
  await h.tell(id, 'and more');
  const rest: (Event | ForeignEvent)[] = [];
  const follow = async () => {
    for await (const event of h.api.follow(id, { after: head })) {
      if (event.kind !== 'whisper') rest.push(event);
      if (event.kind === 'response.surfaced' && event.turn === 2) return;
    }
  };
  await h.done(follow());

  expect(rest[0]?.seq).toBe(head + 1);
  expect(fold(rest, snapshot)).toEqual(await h.state(id));
});

it('B085 a client that goes away ends nothing', async () => {
  const held = gate();
  const h = given({ model: [() => held.pass(say('finished'))] });
  const id = await h.start('go');
  await h.until(() => held.reached === 1, 'a model that writes');
  const over = new AbortController();
  const follow = async () => {
    for await (const _ of h.api.follow(id, { signal: over.signal })) if (h.requests.length > 1) return;
  };
  const following = follow();
  over.abort();
  await h.done(following);
  held.open();
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['finished']);
});

/** A log of so many events more, as a person leaves it who cannot decide. */
async function lengthened(h: Harness, id: SessionId, count: number): Promise<void> {
  const kinds = ['session.paused', 'session.resumed'] as const;
  for (let left = count; left > 0; left -= 1_000) {
    const row = (await h.store.row(id)) as Row;
    const { id: session, head, epoch: _, ...summary } = row;
    const events = Array.from({ length: 1_000 }, (_, n) => {
      const kind = kinds[n % 2] as (typeof kinds)[number];
      return encode({ kind, by: 'ann', seq: head + 1 + n, at: summary.updatedAt });
    });
    const commit = { session, head, epoch: null, events, blobs: [], summary };
    expect(await h.store.commit(commit)).toEqual({ status: 'committed' });
  }
}

it('B168 a backlog of 100,000 events is read page by page, as fast as its readers take it, and delays no turn', {
  timeout: 120_000,
}, async () => {
  const h = given({ model: () => say('done') });
  const id = await h.start('go');
  await h.rest(id);
  await lengthened(h, id, 100_000);
  const { length } = await h.log(id);
  expect(length).toBeGreaterThan(100_000);

  const pages: number[] = [];
  h.faulty.read = async (session, after, limit) => {
    pages.push(limit);
    return h.store.read(session, after, limit);
  };
  const before = heldBytes();
  const readers = Array.from({ length: 20 }, () => h.api.follow(id));
  for (const reader of readers) await h.done(reader.next());
  // Each has been given one event, has asked for one page, and holds no more than that: the log once more would be 10 MB.
  expect(pages).toHaveLength(20);
  expect(Math.max(...pages)).toBeLessThanOrEqual(200);
  expect(heldBytes() - before).toBeLessThan(5 * 2 ** 20);

  const began = h.clock.now();
  await h.tell(id, 'one more');
  expect(h.clock.now() - began).toBeLessThan(1_000);
  expect((await responses(h, id)).at(-1)).toBe('done');

  // Two of them go through all of it, side by side; the others stay where they are.
  let halfway = 0;
  const drain = async (reader: AsyncGenerator<unknown>) => {
    for (let last = 1; last < length; last++) {
      const { value } = (await reader.next()) as { value: Event };
      if (value.seq !== last + 1) throw new Error(`${value.seq} came after ${last}`);
      if (last === 50_000) halfway = heldBytes();
    }
  };
  await h.done(Promise.all(readers.slice(0, 2).map(drain)));
  expect(halfway - before).toBeLessThan(10 * 2 ** 20);
});
