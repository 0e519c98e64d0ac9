/** Late truth: an answer that comes after its time still counts. It spares a question, or corrects what was believed. */

import { expect, it } from 'vitest';
import type { Capability } from '../../src/core/capability.ts';
import { OutlastError } from '../../src/core/error.ts';
import { calls, type Harness, say, tool } from '../../src/testing/harness.ts';
import type { Answer } from '../../src/tools/port.ts';
import { books, events, given, notes, once, responses, results } from '../faults/kit.ts';

const MINUTE_MS = 60_000;

/**
 * A tool whose n-th sending answers after the n-th of these times, and heeds no signal; what it is sent stands in
 * `sent`.
 */
function lateTool(capability: Capability, answersAfterMs: readonly number[], answer?: Answer) {
  const sent: number[] = [];
  const slow = tool('slow', capability, async (_args, { attempt }) => {
    sent.push(attempt);
    await h.clock.sleep(answersAfterMs[attempt - 1] ?? 0);
    return answer ?? { status: 'done', result: `answer ${attempt}` };
  });
  const h: Harness = given({
    tools: [slow],
    limits: { effectTimeoutMs: 1_000 },
    model: (request) => {
      const got = results(request);
      return got.length === 0 ? calls(['slow', {}]) : say([got[0]?.text, ...notes(request)].join(' | '));
    },
  });
  return { h, sent };
}

const unknown = (h: Harness, id: string) =>
  h.until(async () => (await events(h, id, 'effect.settled')).length === 1, 'a time limit');

it('B036 an answer after the time limit settles the effect, and the question about it is moot', async () => {
  const { h, sent } = lateTool({ kind: 'blind' }, [5 * MINUTE_MS]);
  const id = await h.start('go');
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.pass(6 * MINUTE_MS);

  expect(await responses(h, id)).toEqual([
    expect.stringMatching(/^answer 1 \(a worker.*handed its result in\)$/),
  ]);
  expect([sent, await events(h, id, 'evidence.received')]).toMatchObject([
    [1],
    [{ effect: 'e1', attempt: 1, outcome: { status: 'done', result: 'answer 1' } }],
  ]);
  expect(await h.done(h.api.inspect(id))).toMatchObject({ phase: 'awaiting_input', decisions: [] });
  await expect(h.done(h.api.decide(id, 'd1', 'not-done'))).rejects.toMatchObject({
    code: 'decision.closed',
    message: 'd1 needs no answer any more: the effect was settled by evidence.',
  });
});

it.each<[string, Capability, Answer]>([
  ['a clear failure', { kind: 'blind' }, { status: 'failed', code: 'no', message: 'It did not happen.' }],
  ['an answer before anybody looks', { kind: 'queryable', lateMs: MINUTE_MS }, { status: 'done', result: 1 }],
])('%s that comes late counts as well', async (_what, capability, answer) => {
  const { h, sent } = lateTool(capability, [30_000], answer);
  const id = await h.start('go');
  await unknown(h, id);
  await h.pass(40_000);
  await h.rest(id);
  expect((await h.state(id)).effects.closed).toMatchObject([
    { outcome: answer, evidence: { by: 'late' }, attempts: 1 },
  ]);
  expect([sent, await events(h, id, 'effect.dispatched')]).toEqual([[1], [expect.anything()]]);
});

it('a sending that a person called not done, and that answers late, is told to the model: it may stand twice', async () => {
  const { h, sent } = lateTool({ kind: 'blind' }, [10 * MINUTE_MS, 0]);
  const id = await h.start('go');
  await h.rest(id);
  await h.done(h.api.decide(id, 'd1', 'not-done'));
  await h.rest(id);
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^answer 2/)]);
  await h.pass(11 * MINUTE_MS);
  await h.rest(id);

  expect(sent).toEqual([1, 2]);
  expect((await h.state(id)).effects.closed).toMatchObject([
    {
      status: 'done',
      strays: [1],
      evidence: { by: 'late', note: 'sending 1 was answered late: it had happened' },
    },
  ]);
  const told = /Effect e1 \(slow service\) was sent 2 times.*sending 1 did: it may stand more than once\./;
  expect(JSON.stringify(h.requests.at(-1)?.messages)).toMatch(told);
  expect(await responses(h, id)).toHaveLength(2);
  expect((await events(h, id, 'message.read')).at(-1)?.messages).toEqual(['end:e1']);
});

it('an effect that a person rejected, and that did happen, is corrected in the ledger and told to the model', async () => {
  const { h, sent } = lateTool({ kind: 'blind' }, [10 * MINUTE_MS]);
  const id = await h.start('go');
  await h.rest(id);
  await h.done(h.api.decide(id, 'd1', 'reject', 'it is too late for it'));
  await h.rest(id);
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([{ status: 'failed' }]);
  await h.pass(11 * MINUTE_MS);
  await h.rest(id);

  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([{ status: 'done' }]);
  expect(JSON.stringify(h.requests.at(-1)?.messages)).toMatch(
    /Effect e1 \(slow service\) did happen after all/,
  );
  expect([sent, (await responses(h, id)).length]).toEqual([[1], 2]);
});

it('a rejected effect that failed in truth stays as it is, and nobody is told', async () => {
  const failed: Answer = { status: 'failed', code: 'no', message: 'It did not happen.' };
  const { h } = lateTool({ kind: 'blind' }, [10 * MINUTE_MS], failed);
  const id = await h.start('go');
  await h.rest(id);
  await h.done(h.api.decide(id, 'd1', 'reject'));
  await h.rest(id);
  const head = (await h.log(id)).length;
  await h.pass(11 * MINUTE_MS);
  expect(await h.log(id)).toHaveLength(head);
});

it('an answer that comes after the stop is kept, and told when the session is opened again', async () => {
  const { h, sent } = lateTool({ kind: 'blind' }, [10 * MINUTE_MS]);
  const id = await h.start('go');
  await h.rest(id);
  expect(await h.done(h.api.stop(id))).toEqual({ status: 'stopped', unknown: ['e1'], children: [] });
  await h.pass(11 * MINUTE_MS);
  expect(await events(h, id, 'evidence.received')).toHaveLength(1);
  expect(h.requests).toHaveLength(1);
  await h.done(h.api.reopen(id));
  await h.rest(id);
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([{ status: 'done' }]);
  await h.tell(id, 'and?');
  expect(notes(h.requests.at(-1)).join()).toMatch(
    /Effect e1 \(slow service\) is settled now: done\. answer 1/,
  );
  expect(sent).toEqual([1]);
});

it('B018 a result that the store would not take for long is handed in by the next actor: nobody is asked', async () => {
  const h = given({ model: once(['post', { what: 'it' }]) });
  const full = new OutlastError('store.full', 'The disk is full.');
  let isFull = false;
  h.faulty.commit = async (commit) => {
    isFull ||= commit.events.some(({ kind }) => kind === 'effect.settled');
    if (isFull) throw full;
    return h.store.commit(commit);
  };
  const id = await h.start('post it');
  await h.until(
    () => isFull && h.reports.some((line) => /the drive ended with an error/.test(line)),
    'an end',
  );
  await h.pass(2 * MINUTE_MS);
  expect([books(h), (await h.state(id)).effects.open]).toMatchObject([
    ['post: it'],
    [{ status: 'dispatched' }],
  ]);
  delete h.faulty.commit;
  await h.pass(MINUTE_MS);
  expect(await h.rest(id)).toBe('awaiting_input');

  expect(await events(h, id, 'decision.requested')).toEqual([]);
  expect(await events(h, id, 'evidence.received')).toMatchObject([{ outcome: { status: 'done' } }]);
  expect(await responses(h, id)).toEqual(['post: done']);
  expect(books(h)).toEqual(['post: it']);
});

it('B018 so is one that was still on its way when the store failed', async () => {
  const { h, sent } = lateTool({ kind: 'blind' }, [800]);
  const id = await h.start('go');
  await h.until(() => sent.length === 1, 'a sending');
  let failures = 0;
  h.faulty.commit = async () => {
    failures++;
    throw new OutlastError('store.failed', 'The disk is gone.');
  };
  // Nothing of it concerns the effect: the pause cannot be taken, and whoever drives the session ends on its answer.
  await h.pass(20_000);
  delete h.faulty.commit;
  await h.pass(MINUTE_MS);
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(failures).toBeGreaterThan(2);
  expect([sent, await events(h, id, 'decision.requested')]).toEqual([[1], []]);
});

it.each([
  ['the same worker sends it once, and nobody is asked', false, []],
  ['another worker sends it once, and takes back what it has asked', true, [{ id: 'd1', moot: true }]],
])('B035 a request whose lease ended before it left: %s', async (_what, isTaken, decisions) => {
  const h = given({ model: once(['post', { what: 'it' }]) });
  let delayed = 0;
  h.faulty.commit = async (commit) => {
    const result = await h.store.commit(commit);
    const isMark = commit.events.some(({ kind }) => kind === 'effect.dispatched');
    // The mark is durable, and the word of it takes longer than the lease.
    if (isMark && delayed++ === 0) await h.clock.sleep(16_000);
    return result;
  };
  const id = await h.start('post it');
  await h.until(() => delayed === 1, 'a mark');
  if (isTaken) h.join();
  await h.pass(2 * MINUTE_MS);
  expect(await h.rest(id)).toBe('awaiting_input');

  expect((await h.state(id)).decisions).toMatchObject(decisions);
  expect(books(h)).toEqual(['post: it']);
  expect(await responses(h, id)).toEqual(['post: done']);
  expect(await events(h, id, 'effect.reconciled')).toMatchObject([
    { evidence: 'unsent', finding: { status: 'absent' } },
  ]);
});

it.each(['book', 'pay'])(
  'B036 a repeat of %s that never left says nothing of the sending before it',
  async (service) => {
    const h = given({ model: once([service, { what: 'it' }]), limits: { effectTimeoutMs: 1_000 } });
    h.world.loseAnswers.set(service, 1);
    let marks = 0;
    h.faulty.commit = async (commit) => {
      const result = await h.store.commit(commit);
      const isMark = commit.events.some(({ kind }) => kind === 'effect.dispatched');
      // The first sending is applied and not answered; the mark of the second takes longer than the lease.
      if (isMark && ++marks === 2) await h.clock.sleep(16_000);
      return result;
    };
    const id = await h.start('do it');
    await h.until(() => marks === 2, 'the mark of a repeat');
    await h.pass(2 * MINUTE_MS);
    expect(await h.rest(id)).toBe('awaiting_input');

    const found = (await events(h, id, 'effect.reconciled')).map(({ finding }) => finding.status);
    expect([books(h), found]).toEqual([[`${service}: it`], expect.not.arrayContaining(['absent'])]);
    expect(await responses(h, id)).toEqual([`${service}: done`]);
  },
);

it('B036 a repeat whose mark took longer than its service keeps the key is not sent: it could be done twice', async () => {
  const calls: number[] = [];
  const forgetful = tool('forgetful', { kind: 'keyed', retentionMs: 5_000 }, async (_args, { attempt }) => {
    calls.push(attempt);
    if (attempt === 1) throw new Error('the connection broke');
    return { status: 'done', result: 'once more' };
  });
  const h = given({ tools: [forgetful], model: once(['forgetful', {}]) });
  let marks = 0;
  h.faulty.commit = async (commit) => {
    const result = await h.store.commit(commit);
    const isMark = commit.events.some(({ kind }) => kind === 'effect.dispatched');
    if (isMark && ++marks === 2) await h.clock.sleep(6_000);
    return result;
  };
  const id = await h.start('do it');
  expect(await h.rest(id)).toBe('awaiting_decision');

  expect([marks, calls]).toEqual([2, [1]]);
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([{ status: 'unknown' }]);

  // A person has looked: then its key is as good as new, however long that took.
  await h.pass(10 * MINUTE_MS);
  await h.done(h.api.decide(id, 'd1', 'not-done'));
  expect(await h.rest(id)).toBe('awaiting_input');
  expect([calls, await responses(h, id)]).toEqual([[1, 3], ['forgetful: done']]);
});
