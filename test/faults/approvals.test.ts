// Owns: approvals, from the outside: what is offered, what a decision does, and what nothing but a decision does.
import { expect, it } from 'vitest';
import { OutlastError } from '../../src/core/error.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import { digestOf, type Policy, policyOf } from '../../src/core/policy.ts';
import type { Approver } from '../../src/runtime/approver.ts';
import { calls, type Harness, say, tool } from '../../src/testing/harness.ts';
import { books, events, given, instructions, notes, once, responses, results, sandbox } from './kit.ts';

const DAY_MS = 86_400_000;

/** The default policy: what is blind is asked about. */
const byDefault = policyOf([]);
const expiring = (expiresAfterMs: number): Policy =>
  policyOf([{ name: 'soon', when: ({ tool }) => tool === 'post', verdict: 'ask', expiresAfterMs }]);

const posts = (...whats: readonly string[]) => once(...whats.map((what) => ['post', { what }] as const));
const open = async (h: Harness, session: string) => (await h.done(h.api.inspect(session))).decisions;
const decide = (h: Harness, session: string, decision: string, answer: 'approve' | 'reject', text = '') =>
  h.done(h.api.decide(session, decision, answer, text));
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    (error: unknown) => (error instanceof OutlastError ? `${error.code}: ${error.message}` : String(error)),
  );

it('B014 three calls that wait in one turn are three questions, decided in reverse order, and none is dropped', async () => {
  const h = given({ policy: byDefault, model: posts('a', 'b', 'c') });
  const id = await h.start('post three');
  expect(await h.rest(id)).toBe('awaiting_decision');
  const asked = await open(h, id);
  expect(asked.map(({ effect, action }) => [effect, action?.args])).toEqual([
    ['e1', { what: 'a' }],
    ['e2', { what: 'b' }],
    ['e3', { what: 'c' }],
  ]);
  expect(new Set(asked.map(({ id: decision }) => decision)).size).toBe(3);

  for (const { id: decision } of [...asked].reverse()) {
    await decide(h, id, decision, 'approve');
    await h.rest(id);
  }
  expect(books(h)).toEqual(['post: c', 'post: b', 'post: a']);
  expect(results(h.requests.at(-1)).map(({ text }) => JSON.parse(text).what)).toEqual(['a', 'b', 'c']);
  expect(await responses(h, id)).toEqual(['post: done, post: done, post: done']);
});

it('B029 an approval that waited through a restart, and for days, is decided, and the very call runs once', async () => {
  const runs: unknown[] = [];
  const send = tool('send', { kind: 'blind' }, async (args, { reference }) => {
    runs.push([args, reference]);
    return { status: 'done', result: 'sent' };
  });
  const h = given({ policy: byDefault, tools: [send], model: once(['send', { to: 'Ada', n: 1 }]) });
  const id = await h.start('send it');
  await h.rest(id);
  h.clock.elapse(3 * DAY_MS);
  h.restart();
  expect(await open(h, id)).toMatchObject([
    { id: 'd1', about: 'approval', options: ['approve', 'reject'], why: 'the rule "default:blind" asks' },
  ]);
  await decide(h, id, 'd1', 'approve');
  await h.rest(id);
  expect(runs).toEqual([[{ to: 'Ada', n: 1 }, `${id}.e1`]]);
  expect(await responses(h, id)).toEqual(['send: done']);
  expect(await refused(decide(h, id, 'd1', 'reject'))).toMatch(
    /^decision\.closed: d1 was decided already: approve/,
  );
});

it('B030 each call gets its own decision, whatever the order and with a restart between', async () => {
  const h = given({ policy: byDefault, model: posts('a', 'b') });
  const id = await h.start('post two');
  await h.rest(id);
  await decide(h, id, 'd2', 'reject', 'not b');
  await h.rest(id);
  h.restart();
  await decide(h, id, 'd1', 'approve');
  await h.rest(id);
  expect(books(h)).toEqual(['post: a']);
  expect(results(h.requests.at(-1))).toMatchObject([
    { status: 'done' },
    { status: 'failed', text: 'It was not sent. local rejected it: not b [rejected]' },
  ]);
});

it('B047 an approval is for one exact action: other arguments are another question', async () => {
  const h = given({
    policy: byDefault,
    model: (request) => {
      const n = results(request).length;
      return n < 2 ? calls(['post', { what: n === 0 ? 'ten' : 'a thousand' }]) : say('posted');
    },
  });
  const id = await h.start('post it');
  await h.rest(id);
  const [ten] = await open(h, id);
  const digest = digestOf({ tool: 'post', target: 'post service', args: { what: 'ten' } });
  expect(ten?.digest).toBe(digest);
  const edited = digestOf({ tool: 'post', target: 'post service', args: { what: 'a thousand' } });
  const asEdited = h.api.decide(id, 'd1', 'approve', '', { digest: edited });
  expect(await refused(h.done(asEdited))).toMatch(
    /^decision\.stale: d1 is not about the action with the digest/,
  );
  expect(books(h)).toEqual([]);

  await h.done(h.api.decide(id, 'd1', 'approve', '', { digest }));
  expect(await h.rest(id)).toBe('awaiting_decision');
  expect(books(h)).toEqual(['post: ten']);
  expect(await open(h, id)).toMatchObject([
    { id: 'd2', digest: edited, action: { args: { what: 'a thousand' } } },
  ]);
});

it('B048 nothing is made up for a call that waits, however often the session is loaded', async () => {
  const h = given({ policy: byDefault, model: posts('it') });
  const id = await h.start('post it');
  await h.rest(id);
  const { head } = await h.done(h.api.inspect(id));
  for (let i = 0; i < 3; i++) {
    h.restart();
    expect(await open(h, id)).toHaveLength(1);
  }
  expect((await h.done(h.api.inspect(id))).head).toBe(head);
  expect(h.requests).toHaveLength(1);
  await decide(h, id, 'd1', 'approve');
  await h.rest(id);
  expect(books(h)).toEqual(['post: it']);
});

it('B061 an approval that nobody gives keeps no message away, and comes to an end', async () => {
  const h = given({
    policy: expiring(2 * DAY_MS),
    model: (request: ModelRequest) => {
      const said = instructions(request);
      if (said.length === 1)
        return results(request).length === 0 ? calls(['post', { what: 'it' }]) : say('over');
      return say(`heard ${said.at(-1)}`);
    },
  });
  const id = await h.start('post it');
  await h.rest(id);
  const { rule } = await h.done(h.api.send(id, 'never mind'));
  expect(rule).toBe('waits for decision d1, then joins turn 1');
  await h.done(h.api.send(id, 'are you there?', { when: 'now' }));
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer');
  expect(await responses(h, id)).toEqual(['heard are you there?']);
  expect(await open(h, id)).toHaveLength(1);

  h.clock.elapse(3 * DAY_MS);
  await h.until(async () => (await responses(h, id)).length === 2, 'a turn about the end of it');
  expect(notes(h.requests.at(-1)).join()).toContain('Nobody approved it in time');
  expect(await h.tell(id, 'and now?')).toBe('awaiting_input');
  expect(books(h)).toEqual([]);
});

it('B112 nothing is stored or sent to the model twice when an approval is given after a reload', async () => {
  const h = given({ policy: byDefault, model: posts('it') });
  const id = await h.start('post it');
  await h.rest(id);
  h.restart();
  await decide(h, id, 'd1', 'approve');
  await h.rest(id);
  const { transcript } = await h.state(id);
  expect(transcript.map(({ kind }) => kind)).toEqual(['message', 'reply', 'reply']);
  for (const kind of ['message.read', 'effect.intended', 'decision.requested', 'decision.made'] as const)
    expect([kind, (await events(h, id, kind)).length]).toEqual([kind, 1]);
  expect(instructions(h.requests.at(-1))).toEqual(['post it']);
  expect(h.requests).toHaveLength(2);
});

it('B115 a decision stands although the first wake after it failed, and the call runs once', async () => {
  const h = given({ policy: byDefault, model: posts('it') });
  const id = await h.start('post it');
  await h.rest(id);
  h.faulty.acquire = async () => {
    delete h.faulty.acquire;
    throw new OutlastError('store.busy', 'not now');
  };
  await decide(h, id, 'd1', 'approve');
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer');
  expect(h.reports.join()).toContain('not now');
  expect(await events(h, id, 'decision.made')).toHaveLength(1);
  expect(books(h)).toEqual(['post: it']);
});

it('B116 two calls of one tool are decided minutes apart, and the model is called once it has both results', async () => {
  const h = given({ policy: byDefault, model: posts('a', 'b') });
  const id = await h.start('post two');
  await h.rest(id);
  await decide(h, id, 'd1', 'approve');
  await h.pass(5 * 60_000);
  expect(h.requests).toHaveLength(1);
  expect(books(h)).toEqual(['post: a']);
  await decide(h, id, 'd2', 'approve');
  await h.rest(id);
  expect(h.requests).toHaveLength(2);
  expect(results(h.requests.at(-1)).map(({ status }) => status)).toEqual(['done', 'done']);
});

it('B119 waiting for approval holds no lease and no memory: others run, and all survive a restart', async () => {
  const h = given({
    slots: 3,
    policy: byDefault,
    sandbox,
    model: (request) => {
      if (instructions(request)[0] === 'just say') return say('said');
      const [result] = results(request);
      return result
        ? say(result.text)
        : calls(['code', { source: "await tools.post({ what: 'it' }); 1 + 1" }]);
    },
  });
  const waiting: string[] = [];
  for (let i = 0; i < 25; i++) waiting.push(await h.start(`post ${i}`));
  for (const id of waiting) expect(await h.rest(id)).toBe('awaiting_decision');
  const other = await h.start('just say');
  expect(await h.rest(other)).toBe('awaiting_input');
  await h.pass(10_000);
  const rows = await h.done(h.api.list({ phase: 'awaiting_decision' }));
  expect(rows.map(({ residency }) => residency)).toEqual(waiting.map(() => 'parked'));
  for (const id of waiting) {
    // Whoever held it would still hold it.
    const acquired = await h.store.acquire(id as never, 'somebody', 1_000);
    expect(acquired).toMatchObject({ status: 'acquired', clean: true });
    if (acquired.status === 'acquired') await h.store.release(id as never, acquired.epoch);
  }
  h.restart();
  for (const id of waiting) {
    await decide(h, id, 'd1', 'approve');
    await h.rest(id);
    expect(await responses(h, id)).toEqual(['2']);
  }
  expect(h.world.books).toHaveLength(25);
});

it('B140 with nobody to approve it nothing is executed, for as long as that takes', async () => {
  const h = given({ policy: byDefault, model: posts('it') });
  const id = await h.start('post it');
  await h.rest(id);
  h.restart();
  await h.pass(3_600_000);
  expect(books(h)).toEqual([]);
  expect(await open(h, id)).toHaveLength(1);
});

it.each<[string, unknown, RegExp]>([
  ['throws', () => Promise.reject(new Error('out of order')), /the approver failed.*: out of order$/],
  ['says nothing', () => undefined, /the approver did not decide/],
  ['says yes in its own words', () => 'yes', /the approver did not decide/],
  ['is never done', () => new Promise(() => {}), /^$/],
])(
  'B140 an approver that %s approves nothing; that is reported once, and a person can',
  async (_, approver, report) => {
    const h = given({ policy: byDefault, approver: approver as Approver, model: posts('it') });
    const id = await h.start('post it');
    expect(await h.rest(id)).toBe('awaiting_decision');
    await h.pass(3_600_000);
    expect(books(h)).toEqual([]);
    expect(h.reports.length).toBeLessThanOrEqual(1);
    expect(h.reports.join()).toMatch(report);
    await decide(h, id, 'd1', 'approve');
    await h.rest(id);
    expect(books(h)).toEqual(['post: it']);
  },
);

it('an approver decides by the same call as a person, also about what was open before it came', async () => {
  const asked: unknown[] = [];
  const approver: Approver = async ({ session, effect, owner, tool, args, rule }) => {
    asked.push({ session, effect, owner, tool, args, rule });
    return JSON.stringify(args).includes('no') ? 'reject' : 'approve';
  };
  const h = given({ policy: byDefault, model: posts('yes', 'no') });
  const before = await h.start('post two');
  await h.rest(before);
  h.end();
  h.approver = approver;
  h.restart();
  await h.until(async () => (await responses(h, before)).length === 1, 'an answer');
  const after = await h.start('post two more');
  await h.until(async () => (await responses(h, after)).length === 1, 'an answer');
  for (const id of [before, after]) {
    expect(await responses(h, id)).toEqual(['post: done, post: failed']);
    expect((await events(h, id, 'decision.made')).map(({ by }) => by)).toEqual(['approver', 'approver']);
  }
  expect(asked).toHaveLength(4);
  expect(asked[0]).toEqual({
    ...{ session: before, effect: 'e1', owner: 'local', tool: 'post', args: { what: 'yes' } },
    rule: 'default:blind',
  });
});

it('B153 what nobody approves in time expires: clients see it, a late yes is refused, and the model is told', async () => {
  const h = given({ policy: expiring(2_000), model: posts('it') });
  const id = await h.start('post it');
  await h.rest(id);
  const [asked] = await open(h, id);
  expect(asked?.expiresAt).toBe((asked?.since ?? 0) + 2_000);
  // Before anybody has noticed the hour.
  h.worker.freeze();
  h.clock.elapse(2_000);
  const late = h.join().api.decide(id, 'd1', 'approve');
  expect(await refused(h.done(late))).toMatch(/^decision\.expired: d1 could be answered until/);
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer');

  expect(await events(h, id, 'decision.expired')).toMatchObject([{ decision: 'd1' }]);
  expect(await events(h, id, 'effect.dispatched')).toEqual([]);
  expect(await open(h, id)).toEqual([]);
  expect(results(h.requests.at(-1))).toMatchObject([
    { status: 'failed', text: 'It was not sent. Nobody approved it in time (d1) [approval.expired]' },
  ]);
  expect(await refused(decide(h, id, 'd1', 'approve'))).toMatch(/^decision\.expired/);
  expect(books(h)).toEqual([]);
});

it('a decision of another session or another owner is unknown', async () => {
  const h = given({ policy: byDefault, model: posts('it') });
  const [one, other] = [await h.start('post it'), await h.start('post it too')];
  await h.rest(one);
  await h.rest(other);
  const stranger = h.api.as('bob' as never);
  expect(await refused(h.done(stranger.decide(one, 'd1', 'approve')))).toMatch(/^session\.unknown/);
  expect(await refused(decide(h, one, 'd2', 'approve'))).toMatch(/^decision\.unknown/);
  await decide(h, one, 'd1', 'approve');
  await h.rest(one);
  expect(books(h)).toEqual(['post: it']);
  expect(await open(h, other)).toHaveLength(1);
});

it('an interrupt withdraws what waits, and a decision after it is refused with the reason', async () => {
  const h = given({ policy: byDefault, model: posts('it') });
  const id = await h.start('post it');
  await h.rest(id);
  await h.done(h.api.interrupt(id));
  expect(await open(h, id)).toEqual([]);
  expect(await refused(decide(h, id, 'd1', 'approve'))).toBe(
    'decision.closed: d1 needs no answer any more: Not sent: the turn was interrupted.',
  );
  await h.pass(60_000);
  expect(books(h)).toEqual([]);
});

it('what a rule denies is not sent, in a call or in code, and the rule is named', async () => {
  const never = policyOf([{ name: 'never mail', when: ({ tool }) => tool === 'mail', verdict: 'deny' }]);
  const source = "await tools.mail({ what: 'b' }).catch((error) => error.code + ': ' + error.message)";
  const h = given({ policy: never, sandbox, model: once(['mail', { what: 'a' }], ['code', { source }]) });
  const id = await h.start('mail');
  await h.rest(id);
  expect(results(h.requests.at(-1)).map(({ text }) => text)).toEqual([
    'It was not sent: the rule "never mail" denies it. Do not do it by other means. [policy.denied]',
    '"policy.denied: It was not sent: the rule \\"never mail\\" denies it. Do not do it by other means."',
  ]);
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([
    { status: 'withdrawn', rule: 'never mail' },
    { status: 'withdrawn', rule: 'never mail' },
  ]);
  expect(books(h)).toEqual([]);
});
