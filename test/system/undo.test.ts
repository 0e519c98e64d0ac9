/** Cancelable writes over real HTTP: sent again at once, looked at when nothing can arrive any more, extras undone. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { calls, gate, type Harness, say, tool } from '../../src/testing/harness.ts';
import { events, given, responses, results } from '../faults/kit.ts';
import { LATE_MS, type Service, service } from './services.ts';

let hotel: Service;
beforeEach(async () => {
  hotel = await service();
});
afterEach(() => hotel.close());

const booking = (): Harness =>
  given({
    tools: hotel.tools,
    isUnderWay: hotel.isUnderWay,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(`${got[0]?.status} ${got[0]?.text}`);
      return calls(['http', { url: `${hotel.origin}/bookings`, method: 'POST', body: { room: 7 } }]);
    },
  });

const posts = (): number => hotel.seen.filter(({ method }) => method === 'POST').length;
const standing = (): readonly string[] => hotel.bookings.filter((b) => !b.cancelled).map(({ id }) => id);

it('a lost answer costs nobody a question: sent again at once, and the extra is undone before it is told', async () => {
  hotel.tear = 1;
  const h = booking();
  const id = await h.start('book a room');
  await h.until(() => posts() === 2, 'a second sending');
  const [first] = await events(h, id, 'effect.dispatched');
  const again = h.clock.now() - (first?.at ?? 0);
  await h.until(() => standing().length === 1, 'an extra that is undone');
  const undone = h.clock.now() - (first?.at ?? 0);
  await h.rest(id);

  expect(again).toBeLessThan(2_000);
  expect(undone).toBeGreaterThanOrEqual(LATE_MS);
  expect([standing(), hotel.bookings.length, posts()]).toEqual([['b1'], 2, 2]);
  expect(new Set(hotel.bookings.map(({ ref }) => ref))).toEqual(new Set([`${id}.e1`]));
  // The one that stands is told, not the one that was answered and is undone by now.
  const [said = ''] = await responses(h, id);
  expect(said).toMatch(/^done .*"id\\":\\"b1\\"/);
  expect(said).toMatch(/it was sent again\. One extra stood there for a while and was undone\)$/);
  expect(await events(h, id, 'effect.reconciled')).toMatchObject([{ evidence: 'audited' }]);
  expect(await events(h, id, 'decision.requested')).toEqual([]);
});

it('a first sending that never arrived leaves nothing to undo', async () => {
  hotel.tear = 1;
  const h = booking();
  const id = await h.start('book a room');
  await h.until(() => posts() === 1, 'a sending');
  hotel.bookings.length = 0;
  await h.rest(id);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/the service has it once\)$/)]);
  expect([hotel.bookings.length, posts()]).toEqual([1, 2]);
});

it('an audit that a crash cut off is made again, and undoes nothing twice', async () => {
  hotel.tear = 1;
  const h = booking();
  const id = await h.start('book a room');
  await h.until(() => posts() === 2, 'a second sending');
  const deletions = () => hotel.seen.filter(({ method }) => method === 'DELETE').length;
  h.faulty.commit = async (commit) => {
    if (commit.events.some(({ kind }) => kind === 'effect.reconciled')) return new Promise(() => {});
    return h.store.commit(commit);
  };
  await h.until(() => deletions() === 1, 'an extra that is undone');
  await h.pass(1_000);
  delete h.faulty.commit;
  h.restart();
  await h.rest(id);

  expect([standing(), deletions(), posts()]).toEqual([['b1'], 1, 2]);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/One extra stood there .* was undone\)$/)]);
});

it('what somebody has undone at the service since is not sent against them', async () => {
  hotel.tear = 1;
  const h = booking();
  const id = await h.start('book a room');
  await h.until(() => posts() === 2, 'a second sending');
  for (const one of hotel.bookings) one.cancelled = true;
  await h.rest(id);
  await h.pass(600_000);

  expect([standing(), posts()]).toEqual([[], 2]);
  expect(await responses(h, id)).toEqual([
    expect.stringMatching(/^failed .* was done, and has been undone at the service since \[undone\]/),
  ]);
});

it('where undone records are gone, what was answered stands as it was answered, and is not sent again', async () => {
  hotel.tear = 1;
  const h = booking();
  const id = await h.start('book a room');
  await h.until(() => posts() === 2, 'a second sending');
  await h.pass(1_000);
  hotel.bookings.length = 0;
  await h.rest(id);
  await h.pass(600_000);

  expect(posts()).toBe(2);
  expect(await responses(h, id)).toEqual([
    expect.stringMatching(/^done .*"status":201.*and the service has none of it by now\)$/),
  ]);
});

it('a service that cannot be looked at six times is a matter for a person', async () => {
  hotel.tear = 1;
  hotel.refuseLists = 6;
  const h = booking();
  const id = await h.start('book a room');
  expect(await h.rest(id)).toBe('awaiting_decision');
  expect(hotel.seen.filter(({ url }) => url.includes('?ref='))).toHaveLength(6);
  expect(await events(h, id, 'decision.requested')).toMatchObject([
    { effect: 'e1', options: ['done', 'not-done', 'reject'], question: expect.stringMatching(/sent again/) },
  ]);
  await h.done(h.api.decide(id, 'd1', 'done'));
  await h.rest(id);
  expect([posts(), await responses(h, id)]).toEqual([2, [expect.stringMatching(/^done .*confirmedBy/)]]);
});

it('a worker that dies between the two sendings: the next one sends no third before it has looked', async () => {
  const held = gate();
  const stands: number[] = [];
  const seat = tool(
    'seat',
    { kind: 'cancelable', lateMs: LATE_MS },
    async (_args, { attempt }) => {
      stands.push(attempt);
      if (attempt < 3) await held.pass();
      return { status: 'done', result: attempt };
    },
    {
      async audit() {
        const extras = stands.splice(1);
        return { finding: { status: 'done', result: `seat ${stands[0]}` }, undone: extras.length };
      },
    },
  );
  const h = given({
    tools: [seat],
    model: (request) => {
      const got = results(request);
      return got.length === 0 ? calls(['seat', {}]) : say(got[0]?.text ?? '');
    },
  });
  const id = await h.start('a seat');
  await h.until(() => held.reached === 1, 'a sending');
  h.restart();
  await h.until(() => held.reached === 2, 'a second sending');
  h.restart();
  await h.rest(id);
  expect((await events(h, id, 'effect.dispatched')).map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^seat 1 \(it was sent again\. One extra/)]);
});
