/** Versions: what another version wrote is kept, shown and never run on; what is gone is named. */

import { expect, it } from 'vitest';
import { VERSIONS } from '../../src/core/event.ts';
import type { SessionId } from '../../src/core/ids.ts';
import type { StoredEvent } from '../../src/store/port.ts';
import { calls, gate, type Harness, say, tool } from '../../src/testing/harness.ts';
import { events, given, instructions, responses, results } from './kit.ts';

/** Appends a row as another version would have written it. */
async function append(h: Harness, session: SessionId, event: Pick<StoredEvent, 'kind' | 'version' | 'body'>) {
  const row = await h.store.row(session);
  const log = await h.store.read(session, 0, 10_000);
  const [seq, at] = [log.length + 1, log.at(-1)?.at ?? 0];
  const { id: _id, head: _head, epoch: _epoch, ...summary } = row as NonNullable<typeof row>;
  const commit = { session, head: log.length, epoch: null, blobs: [], summary: { ...summary, dueAt: 0 } };
  const result = await h.store.commit({ ...commit, events: [{ seq, at, ...event }] });
  expect(result.status).toBe('committed');
}

it.each([
  ['B025 an event of an unknown kind', { kind: 'session.blessed', version: 1, body: '{"by":"a newer one"}' }],
  ['B189 an event of a newer version', { kind: 'message.read', version: 99, body: '{"turn":1,"step":1}' }],
])('%s is kept, the session is readable, and nothing runs on it', async (_title, event) => {
  const held = gate();
  const h = given({
    model: (request) => (instructions(request).includes('work') ? held.pass(say('never')) : say('done')),
  });
  const id = await h.start('go');
  const other = await h.start('be well');
  await h.rest(id);
  await h.done(h.api.send(id, 'work'));
  await h.until(() => held.reached === 1, 'a turn in the middle');
  h.end();
  await append(h, id, event);
  h.restart();
  const before = await h.store.read(id, 0, 1_000);
  const refused = { code: 'session.newer_version' };
  await expect(h.done(h.api.send(id, 'and now?'))).rejects.toMatchObject(refused);
  await expect(h.done(h.api.interrupt(id))).rejects.toMatchObject(refused);
  await expect(h.done(h.api.stop(id))).rejects.toMatchObject(refused);
  await h.pass(600_000);

  expect(await h.store.read(id, 0, 1_000)).toEqual(before);
  expect(before.at(-1)).toMatchObject(event);
  expect(held.reached).toBe(1);
  expect(await h.done(h.api.inspect(id))).toMatchObject({
    phase: 'paused',
    lastTurn: { text: 'done' },
    reason: expect.stringMatching(`A newer version wrote ${event.kind} at ${before.length}`),
  });
  expect((await h.done(h.api.events(id, 0, 1_000))).at(-1)).toMatchObject({
    kind: 'foreign',
    original: event.kind,
  });
  await h.tell(other, 'still there?');
  expect(await responses(h, other)).toEqual(['done', 'done']);
});

it('B189 a session that an older version could not run goes on where the newer one is back', async () => {
  const h = given({ model: () => say('done') });
  const id = await h.start('go');
  await h.rest(id);
  // The older version sees a kind that it does not know where the newer one wrote this.
  h.faulty.read = async (...args) => {
    const rows = await h.store.read(...args);
    return rows.map((row) =>
      row.kind === 'response.surfaced' ? { ...row, version: VERSIONS['response.surfaced'] + 1 } : row,
    );
  };
  h.restart();
  await expect(h.done(h.api.send(id, 'and now?'))).rejects.toMatchObject({ code: 'session.newer_version' });
  delete h.faulty.read;
  h.restart();
  await h.tell(id, 'and now?');
  expect(instructions(h.requests.at(-1))).toEqual(['go', 'and now?']);
});

it('B025 a damaged event is named, what stands before it is readable, and the others are served', async () => {
  const h = given({ model: () => say('done') });
  const id = await h.start('go');
  await h.rest(id);
  const { length } = await h.log(id);
  h.faulty.read = async (...args) => {
    const rows = await h.store.read(...args);
    return rows.map((row) => (row.seq === length && args[0] === id ? { ...row, body: '{"turn":1,' } : row));
  };
  h.restart();
  const damaged = { code: 'log.damaged', message: expect.stringMatching(`Event ${length} \\(`) };
  await expect(h.done(h.api.inspect(id))).rejects.toMatchObject(damaged);
  await expect(h.done(h.api.send(id, 'and now?'))).rejects.toMatchObject(damaged);
  expect(await h.done(h.api.events(id, 0, length - 1))).toHaveLength(length - 1);
  expect(await h.done(h.api.list())).toMatchObject([{ id, lastResponse: 'done' }]);
  const other = await h.start('be well');
  await h.rest(other);

  expect(await responses(h, other)).toEqual(['done']);
  expect(await h.store.read(id, 0, 1_000)).toHaveLength(length);
});

it('B190 a tool that is gone: its call is refused by name, and the session is as it was', async () => {
  const old = tool('old', { kind: 'read' }, async () => ({ status: 'done', result: 1 }));
  const h = given({ tools: [old], model: () => calls(['old', {}]), limits: { stepsPerTurn: 2 } });
  const id = await h.start('use the old one');
  await h.rest(id);
  h.tools = [];
  h.restart();
  await h.tell(id, 'again');

  expect(results(h.requests.at(-1)).at(-1)).toMatchObject({
    tool: 'old',
    status: 'refused',
    text: expect.stringMatching(
      /There is no tool "old"\. There are: code, ask_person, progress, sleep, recall, book, look/,
    ),
  });
  expect(h.requests.at(-1)?.tools.map(({ name }) => name)).not.toContain('old');
  expect((await h.done(h.api.inspect(id))).phase).toBe('awaiting_input');
});

it.each([
  ['keyed', { kind: 'keyed', retentionMs: 3_600_000 }],
  ['queryable', { kind: 'queryable', lateMs: 1_000 }],
  ['blind', { kind: 'blind' }],
] as const)(
  'B190 a %s call that was sent by a tool that is gone now is unknown, not failed',
  async (_name, how) => {
    const held = gate();
    const old = tool('old', how, () => held.pass({ status: 'done', result: 1 }));
    const h = given({ tools: [old], model: () => calls(['old', {}]) });
    const id = await h.start('use the old one');
    await h.until(() => held.reached === 1, 'a call in flight');
    h.tools = [];
    h.restart();
    expect(await h.rest(id)).toBe('awaiting_decision');

    expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([{ status: 'unknown', tool: 'old' }]);
    expect(await events(h, id, 'decision.requested')).toHaveLength(1);
  },
);

it('B190 a read by a tool that is gone fails at once and says so', async () => {
  const held = gate();
  const old = tool('old', { kind: 'read' }, () => held.pass({ status: 'done', result: 1 }));
  const h = given({
    tools: [old],
    model: (request) => (results(request).length === 0 ? calls(['old', {}]) : say('gone')),
  });
  const id = await h.start('use the old one');
  await h.until(() => held.reached === 1, 'a call in flight');
  h.tools = [];
  h.restart();
  await h.rest(id);
  expect(results(h.requests.at(-1))).toMatchObject([
    { status: 'failed', text: expect.stringMatching(/"old" is not here any more/) },
  ]);
});

it('B148 the first request after a restart lists all tools', async () => {
  const extra = tool('extra', { kind: 'read' }, async () => ({ status: 'done', result: 1 }));
  const held = gate();
  const h = given({ tools: [extra], model: [() => held.pass(say('x')), say('done')] });
  const id = await h.start('go');
  await h.until(() => held.reached === 1, 'a model that writes');
  h.restart();
  await h.rest(id);
  expect(h.requests[1]?.tools).toEqual(h.requests[0]?.tools);
  expect(h.requests[1]?.tools.map(({ name }) => name)).toEqual([
    'code',
    'ask_person',
    'progress',
    'sleep',
    'recall',
    'book',
    'extra',
    'look',
    'mail',
    'pay',
    'post',
  ]);
});
