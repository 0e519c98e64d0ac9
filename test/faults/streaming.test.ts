/** Streaming clients: whoever reads from an offset has each event once and in order, in bounded memory. */

import { expect, it } from 'vitest';
import type { Event, ForeignEvent } from '../../src/core/event.ts';
import { fold } from '../../src/core/evolve.ts';
import { calls, gate, read, say, tool } from '../../src/testing/harness.ts';
import { given, instructions, responses, results } from './kit.ts';

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

it('B168 a long backlog is read page by page, as fast as its reader takes it, and delays no turn', async () => {
  const forty = Array.from({ length: 40 }, () => ['tick', {}] as const);
  const h = given({
    tools: [tool('tick', { kind: 'read' }, async () => ({ status: 'done', result: 1 }))],
    model: (request) =>
      instructions(request).length > 1 || results(request).length >= 360 ? say('done') : calls(...forty),
  });
  const id = await h.start('tick for long');
  await h.rest(id);
  const { length } = await h.log(id);
  expect(length).toBeGreaterThan(1_000);

  const pages: number[] = [];
  h.faulty.read = async (session, after, limit) => {
    pages.push(limit);
    return h.store.read(session, after, limit);
  };
  const readers = Array.from({ length: 20 }, () => h.api.follow(id));
  for (const reader of readers) await h.done(reader.next());
  // Each has been given one event and has asked for one page.
  expect(pages).toHaveLength(20);
  expect(Math.max(...pages)).toBeLessThanOrEqual(200);

  const before = h.clock.now();
  await h.tell(id, 'one more');
  expect(h.clock.now() - before).toBeLessThan(1_000);
  expect((await responses(h, id)).at(-1)).toBe('done');

  const [reader] = readers;
  let last = 1;
  while (last < length) {
    const { value } = (await h.done((reader as (typeof readers)[number]).next())) as { value: Event };
    expect(value.seq).toBe(last + 1);
    last = value.seq;
  }
});
