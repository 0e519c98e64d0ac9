/** Forks and older events over HTTP. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { answer, type Caller, caller, refusal } from '../../test/server/caller.ts';
import { type World, world } from '../../test/server/world.ts';
import { client } from '../client/client.ts';
import { app } from './app.ts';

let outlast: World;
let server: ReturnType<typeof app>;
let http: Caller;

beforeEach(() => {
  outlast = world();
  server = app(outlast);
  http = caller(server);
});

afterEach(async () => {
  outlast.release();
  await outlast.close();
});

test('a fork awaits input with what was open left; the original keeps its question', async () => {
  const id = await http.start('pay');
  const { head } = await http.rested(id);
  const forked = await http.call('fork', id, { title: 'other way' });
  expect(forked).toEqual({
    ...{ session: expect.stringMatching(/^ses_/), from: id, at: head, seq: head + 1 },
    rule: `starts from event ${head}`,
  });
  expect(await http.rested(forked.session)).toMatchObject({
    ...{ phase: 'awaiting_input', title: 'other way', decisions: [], forkedFrom: { session: id, at: head } },
    ledger: [{ effect: 'e1', status: 'left', error: expect.stringContaining('known there') }],
  });
  const decide = { decision: 'd1', answer: 'done' };
  const refused = await refusal(http.post(`/v1/sessions/${forked.session}/decisions`, decide));
  expect(refused).toMatchObject({ status: 409, code: 'decision.closed' });
  expect(await http.rested(id)).toMatchObject({ phase: 'awaiting_decision', forkedFrom: null });
  const rows = (await http.call('list')).sessions;
  expect(rows.map((row) => [row.id, row.forkedFrom])).toEqual([
    [forked.session, id],
    [id, undefined],
  ]);
});

test('a repeat with its key is one fork, also when the original has moved on', async () => {
  const id = await http.start('say hello');
  await http.rested(id);
  const key = { 'idempotency-key': 'k-1' };
  const first = await http.call('fork', id, { message: 'say forked' }, key);
  await http.call('send', id, { message: 'say more' });
  await http.rested(id);
  expect(await http.call('fork', id, { message: 'say forked' }, key)).toEqual(first);
  expect((await http.rested(first.session)).lastTurn?.text).toBe('forked');
  const other = await refusal(http.post(`/v1/sessions/${id}/fork`, { at: 2 }, key));
  expect(other).toMatchObject({ status: 409, code: 'key.conflict' });
});

test('an older event can be looked at, and forked at', async () => {
  const id = await http.start('say one');
  const { head } = await http.rested(id);
  await http.call('send', id, { message: 'say two' });
  expect((await http.rested(id)).lastTurn?.text).toBe('two');
  const then = await answer('inspect', await http.get(`/v1/sessions/${id}?at=${head}&waitMs=10000`));
  expect(then).toMatchObject({ head, phase: 'awaiting_input', lastTurn: { text: 'one' } });
  const { session } = await http.call('fork', id, { at: head, message: 'say three' });
  await http.rested(session);
  const { events } = await http.call('events', session);
  expect(events.filter(({ kind }) => kind === 'response.surfaced').map((e) => 'text' in e && e.text)).toEqual(
    ['one', 'three'],
  );
});

test.each([[{ at: 0 }], [{ at: 1.5 }], [{ at: 10_000 }], [{ At: 3 }], [{ title: '' }]])(
  '%j is refused',
  async (body) => {
    const id = await http.start('say one');
    await http.rested(id);
    const refused = await refusal(http.post(`/v1/sessions/${id}/fork`, body));
    expect(refused).toMatchObject({ status: 400, code: 'request.invalid' });
    expect((await refusal(http.get(`/v1/sessions/${id}?at=10000`))).code).toBe('request.invalid');
    expect((await http.call('list')).sessions).toHaveLength(1);
  },
);

test('B003: a fork whose answer was lost is one fork', async () => {
  let lost = 0;
  const remote = client({
    url: 'http://localhost/',
    fetch: async (url, init) => {
      const response = await server.request(String(url), init);
      if (!String(url).endsWith('/fork') || lost++ > 0) return response;
      throw new TypeError('the connection was cut');
    },
  });
  const { session } = await remote.start({ message: 'say hello', persist: true });
  await remote.rest(session);
  const { session: fork, at } = await remote.fork(session, { message: 'say forked' });
  expect((await remote.rest(fork)).lastTurn?.text).toBe('forked');
  expect((await remote.inspect(fork, { at })).lastTurn?.text).toBe('hello');
  expect((await remote.list()).sessions).toHaveLength(2);
});
