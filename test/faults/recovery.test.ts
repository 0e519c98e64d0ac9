/** Crash and recovery: a worker dies, freezes or loses its lease at the worst moment. Nothing twice, nothing untrue. */

import { expect, it } from 'vitest';
import { OutlastError } from '../../src/core/error.ts';
import { calls, gate, type Harness, say, tool } from '../../src/testing/harness.ts';
import { books, events, given, instructions, once, present, responses, results, sandbox } from './kit.ts';

it.each([
  ['pay', 'pay: done'],
  ['mail', 'mail: done'],
  ['post', 'post: done'],
])('B007 %s that was accepted and not acknowledged stands once', async (service, said) => {
  const h = given({ model: once([service, { what: 'it' }]) });
  const id = await h.start('do it');
  await h.until(() => h.world.books.length === 1, 'a call that was taken');
  h.restart();
  if ((await h.rest(id)) === 'awaiting_decision') {
    expect(service).toBe('post');
    await h.done(h.api.decide(id, 'd1', 'done'));
    await h.rest(id);
  }

  expect(books(h)).toEqual([`${service}: it`]);
  expect(await responses(h, id)).toEqual([said]);
  expect(results(h.requests.at(-1))).toHaveLength(1);
});

it.each([
  ['pay', 're-observed', 'done'],
  ['post', 'unknown', 'unknown'],
])(
  'B007 B062 after the loss of a worker %s is reported as %s, to the person and to the model',
  async (service, fate, status) => {
    const h = given({
      model: (request) =>
        results(request).length > 0 ? say('I have sent nothing.') : calls([service, { what: 'it' }]),
    });
    const id = await h.start('do it');
    await h.until(() => h.world.books.length === 1, 'a call that was taken');
    h.restart();
    if ((await h.rest(id)) === 'awaiting_decision') {
      await h.done(h.api.send(id, 'and?', { when: 'now' }));
      await h.until(() => h.requests.length > 1, 'a turn with the decision still open');
      await h.rest(id);
    }

    const { losses, lines } = await h.done(h.api.report(id));
    expect([losses, lines.find(({ kind }) => kind === 'effects')?.fate]).toEqual([1, fate]);
    expect(present(h.requests[1])).toContain(`- effects, ${fate}: e1`);
    const [response] = await events(h, id, 'response.surfaced');
    expect(response).toMatchObject({ text: 'I have sent nothing.', claims: [{ effect: 'e1', status }] });
  },
);

it('B018 with a full disk no effect starts, nothing claims to be saved, and it goes on when there is room', async () => {
  const h = given({ model: once(['post', { what: 'it' }]) });
  const full = new OutlastError('store.full', 'The disk is full.');
  let isFull = true;
  h.faulty.commit = async (commit) => {
    if (isFull && commit.events.some(({ kind }) => kind === 'effect.intended')) throw full;
    return h.store.commit(commit);
  };
  const id = await h.start('post it');
  await h.until(() => h.reports.some((line) => /the drive ended with an error/.test(line)), 'a report');
  const seen = { books: books(h), events: await events(h, id, 'model.completed') };
  h.faulty.commit = async (commit) => {
    if (isFull) throw full;
    return h.store.commit(commit);
  };
  await expect(h.done(h.api.send(id, 'and this'))).rejects.toMatchObject({ code: 'store.full' });
  isFull = false;
  await h.rest(id);

  expect(seen).toEqual({ books: [], events: [] });
  expect(books(h)).toEqual(['post: it']);
  expect(await responses(h, id)).toEqual(['post: done']);
  expect(instructions(h.requests.at(-1))).toEqual(['post it']);
});

it.each([
  ['B029 a question that waited through a restart is decided, and the very call runs once', null],
  ['B115 a decision stands although the first wake after it failed, and the call runs once', 'acquire'],
] as const)('%s', async (_title, failing) => {
  const runs: unknown[] = [];
  const send = tool('send', { kind: 'blind' }, async (args, { reference, attempt }) => {
    if (attempt === 1) throw new Error('the connection broke');
    runs.push([args, reference]);
    return { status: 'done', result: 'sent' };
  });
  const h = given({ tools: [send], model: once(['send', { to: 'Ada', n: 1 }]) });
  const id = await h.start('send it');
  expect(await h.rest(id)).toBe('awaiting_decision');
  h.restart();
  if (failing) {
    h.faulty.acquire = async () => {
      delete h.faulty.acquire;
      throw new OutlastError('store.busy', 'not now');
    };
  }
  await h.done(h.api.decide(id, 'd1', 'not-done'));
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer');

  expect(h.faulty.acquire).toBeUndefined();
  expect(runs).toEqual([[{ to: 'Ada', n: 1 }, `${id}.e1`]]);
  expect(await responses(h, id)).toEqual(['send: done']);
  expect(h.reports.some((line) => line.includes('not now'))).toBe(failing !== null);
  await expect(h.done(h.api.decide(id, 'd1', 'done'))).rejects.toMatchObject({ code: 'decision.closed' });
});

it('B034 a cell that pauses for a person three times does nothing twice', async () => {
  const h = given({
    sandbox,
    limits: { effectTimeoutMs: 1_000 },
    model: once([
      'code',
      {
        source: `await tools.pay({ what: 'first' });
          const said = [];
          for (const what of ['a', 'b', 'c']) said.push((await tools.post({ what })).confirmedBy);
          said.join()`,
      },
    ]),
  });
  h.world.loseAnswers.set('post', 3);
  const id = await h.start('pay, then ask me three times');
  for (const decision of ['d1', 'd2', 'd3']) {
    expect(await h.rest(id)).toBe('awaiting_decision');
    h.restart();
    await h.done(h.api.decide(id, decision, 'done'));
  }
  await h.rest(id);

  expect(books(h)).toEqual(['pay: first', 'post: a', 'post: b', 'post: c']);
  expect(results(h.requests.at(-1))[0]).toMatchObject({ status: 'done', text: '"local,local,local"' });
  expect(await events(h, id, 'cell.started')).toHaveLength(1);
});

it.each([
  ['pay', 'pay: done'],
  ['mail', 'mail: done'],
])('B036 %s that is not answered in time is unknown, not failed, and found', async (service, said) => {
  const h = given({ model: once([service, { what: 'it' }]), limits: { effectTimeoutMs: 2_000 } });
  h.world.loseAnswers.set(service, 1);
  const id = await h.start('do it');
  await h.until(async () => (await events(h, id, 'effect.settled')).length === 1, 'a time limit');
  const [row] = (await h.done(h.api.inspect(id))).ledger;
  await h.rest(id);

  expect(row).toMatchObject({ status: 'unknown', error: 'no answer in time' });
  expect(await responses(h, id)).toEqual([said]);
  expect(books(h)).toEqual([`${service}: it`]);
});

it('B036 of a blind call the model hears that nobody knows', async () => {
  const h = given({ model: once(['post', { what: 'it' }]), limits: { effectTimeoutMs: 2_000 } });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('post it');
  await h.rest(id);
  await h.done(h.api.send(id, 'did it work?', { when: 'now' }));
  await h.rest(id);

  expect(results(h.requests[1])).toMatchObject([
    { status: 'suspended', text: expect.stringMatching(/outcome is unknown/) },
  ]);
  expect(present(h.requests[1])).toMatch(/unknown effect e1: post to post service.*nobody knows/);
  expect(present(h.requests[1])).toMatch(/open decision d1/);
});

it('B062 nothing is shown as working without anybody who works on it', async () => {
  const hold = gate();
  const where: readonly [string, (h: Harness) => () => boolean | Promise<boolean>][] = [
    ['model', (h) => () => h.requests.length === 1],
    ['tool', (h) => () => h.world.books.length === 1],
    ['decision', (h) => async () => (await h.api.list({ phase: 'awaiting_decision' })).length === 1],
  ];
  for (const [what, reached] of where) {
    const h = given({
      limits: { effectTimeoutMs: 1_000 },
      model: async (request, { n }) => {
        if (what === 'model' && n === 1) await hold.pass();
        return instructions(request).length > 1
          ? say('still here')
          : once([what === 'decision' ? 'post' : 'mail', { what: 'it' }])(request);
      },
    });
    if (what === 'decision') h.world.loseAnswers.set('post', 1);
    const id = await h.start('go');
    await h.until(reached(h), what);
    h.restart();
    const phase = await h.rest(id);
    expect(phase, what).toBe(what === 'decision' ? 'awaiting_decision' : 'awaiting_input');
    await h.done(h.api.send(id, 'are you there?', { when: 'now' }));
    await h.until(async () => (await responses(h, id)).includes('still here'), `an answer after ${what}`);
  }
});

it('B064 of a batch that was half done, each call is dealt with by itself', async () => {
  const runs: string[] = [];
  const held = gate();
  const counted = (name: string, slow: boolean) =>
    tool(name, { kind: 'keyed', retentionMs: 1e9 }, async () => {
      runs.push(name);
      if (slow && runs.filter((run) => run === name).length === 1) await held.pass();
      return { status: 'done', result: name };
    });
  const h = given({
    sandbox,
    tools: [counted('a', false), counted('c', true)],
    model: once(
      ['a', {}],
      ['code', { source: "await tools.c({}); 'first'" }],
      ['code', { source: "await tools.a({}); 'second'" }],
    ),
  });
  const id = await h.start('all three');
  await h.until(() => held.reached === 1, 'c in flight');
  // a is answered, c was sent, and the second cell was never started: the log proves it.
  expect(await events(h, id, 'cell.started')).toHaveLength(1);
  h.restart();
  await h.rest(id);

  expect(runs).toEqual(['a', 'c', 'c', 'a']);
  expect(h.requests).toHaveLength(2);
  expect(results(h.requests[1]).map(({ text }) => text)).toEqual(['a', '"first"', '"second"']);
});

it('B065 a completion whose reply was lost is written once, and the step runs once', async () => {
  const h = given({ model: once(['post', { what: 'it' }]) });
  const answers: string[] = [];
  h.faulty.commit = async (commit) => {
    const result = await h.store.commit(commit);
    if (commit.events.some(({ kind }) => kind === 'effect.settled') && answers.push(result.status) === 1) {
      throw new OutlastError('store.failed', 'the reply was lost');
    }
    return result;
  };
  const id = await h.start('post it');
  await h.rest(id);

  expect(answers).toEqual(['committed', 'conflict']);
  expect(books(h)).toEqual(['post: it']);
  expect(await events(h, id, 'effect.settled')).toHaveLength(1);
  expect(h.requests).toHaveLength(2);
});

it('B066 a result that the store rejects once is stored before the next model call', async () => {
  const h = given({ model: once(['post', { what: 'it' }]) });
  let rejected = 0;
  h.faulty.commit = async (commit) => {
    if (commit.events.some(({ kind }) => kind === 'effect.settled') && rejected++ === 0) {
      expect(h.requests).toHaveLength(1);
      throw new OutlastError('store.busy', 'not now');
    }
    return h.store.commit(commit);
  };
  const id = await h.start('post it');
  await h.rest(id);

  expect(rejected).toBe(2);
  expect(books(h)).toEqual(['post: it']);
  expect(await responses(h, id)).toEqual(['post: done']);
  expect(await events(h, id, 'effect.settled')).toHaveLength(1);
});

it('B067 while an effect is unknown and nobody answers, nothing is spent', async () => {
  const h = given({
    limits: { effectTimeoutMs: 1_000 },
    model: (request) => calls(['post', { what: `try ${results(request).length}` }]),
  });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('post until it works');
  await h.until(async () => (await events(h, id, 'decision.requested')).length === 1, 'a question');
  await h.pass(6 * 3_600_000);
  const alone = h.requests.length;
  // Whoever wants an answer now costs one model call, and the next attempt waits as well.
  await h.done(h.api.send(id, 'and?', { when: 'now' }));
  await h.pass(6 * 3_600_000);

  expect([alone, h.requests.length]).toEqual([1, 2]);
  expect(books(h)).toEqual(['post: try 0']);
  const seen = await h.done(h.api.inspect(id));
  expect(seen.phase).toBe('awaiting_decision');
  expect(seen.decisions).toMatchObject([
    { effect: 'e1', question: expect.stringMatching(/Did e1 happen\? post to post service/) },
  ]);
});

it('B088 when one of three long calls is answered, the others are not started again', async () => {
  const [first, rest] = [gate(), gate()];
  const starts: string[] = [];
  const long = (name: string, until: typeof first) =>
    tool(name, { kind: 'read' }, async () => {
      starts.push(name);
      await until.pass();
      return { status: 'done', result: name };
    });
  const h = given({
    limits: { effectTimeoutMs: 3_600_000 },
    tools: [long('a', first), long('b', rest), long('c', rest)],
    model: once(['a', {}], ['b', {}], ['c', {}]),
  });
  const id = await h.start('three');
  await h.until(() => starts.length === 3, 'three calls');
  first.open();
  await h.until(async () => (await events(h, id, 'effect.settled')).length === 1, 'one answer');
  await h.pass(60_000);
  expect(starts).toEqual(['a', 'b', 'c']);
  rest.open();
  await h.rest(id);

  expect(starts).toEqual(['a', 'b', 'c']);
  expect(await responses(h, id)).toEqual(['a: done, b: done, c: done']);
});

it('B126 a turn whose mail never answers in time mails once', async () => {
  const h = given({ model: once(['mail', { what: 'Ada' }]), limits: { effectTimeoutMs: 1_000 } });
  h.world.loseAnswers.set('mail', 3);
  const id = await h.start('mail Ada');
  for (let attempt = 0; attempt < 3; attempt++) {
    await h.pass(1_200);
    h.restart();
  }
  await h.rest(id);

  expect(books(h)).toEqual(['mail: Ada']);
  expect(await responses(h, id)).toEqual(['mail: done']);
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([
    { status: 'done', evidence: expect.stringMatching(/^queried/) },
  ]);
});

it('B176 what a step writes does not grow with what was before it, in a conversation of 200,000 tokens', {
  timeout: 120_000,
}, async () => {
  const written: number[] = [];
  const h = given({
    limits: { stepsPerTurn: 200, windowTokens: 1_000_000, contextTokens: 900_000 },
    model: (request) => {
      written.push(0);
      return instructions(request).length < 5 || results(request).length === 100
        ? say('done')
        : calls(['look', { what: 'x' }]);
    },
  });
  h.faulty.commit = async (commit) => {
    const bytes = JSON.stringify({ ...commit, blobs: [] }).length;
    const inBlobs = commit.blobs.reduce((sum, blob) => sum + blob.bytes.length, 0);
    written[written.length - 1] = (written.at(-1) ?? 0) + bytes + inBlobs;
    return h.store.commit(commit);
  };
  written.push(0);
  const id = await h.start('the first part: '.padEnd(170_000, 'word '));
  await h.rest(id);
  for (const part of ['second', 'third', 'fourth', 'fifth'])
    await h.tell(id, `the ${part} part: `.padEnd(170_000, 'word '));

  expect(await events(h, id, 'context.compacted')).toEqual([]);
  expect(JSON.stringify(h.requests.at(-1)?.messages).length).toBeGreaterThan(800_000);
  expect(h.requests).toHaveLength(4 + 101);
  const turn = written.slice(6);
  expect(turn).toHaveLength(100);
  const [early = 0, late = 0] = [turn[10], turn[95]];
  expect(late).toBeLessThan(early * 1.1);
  expect(Math.max(...turn)).toBeLessThan(5_000);
});
