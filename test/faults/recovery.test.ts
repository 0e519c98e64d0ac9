/** Crash and recovery: a worker dies, freezes or loses its lease at the worst moment. Nothing twice, nothing untrue. */

import { expect, it } from 'vitest';
import { OutlastError } from '../../src/core/error.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import type { Json } from '../../src/lib/json.ts';
import { calls, gate, type Harness, say, tool } from '../../src/testing/harness.ts';
import { books, events, given, instructions, present, responses, results, sandbox } from './kit.ts';

/** A model that makes these calls, and says what became of them. */
const once =
  (...asked: readonly (readonly [tool: string, input: Json])[]) =>
  (request: ModelRequest) => {
    const got = results(request);
    return got.length === 0 ? calls(...asked) : say(got.map((r) => `${r.tool}: ${r.status}`).join(', '));
  };

it.each([
  ['pay', 'working', 'pay: done'],
  ['mail', 'working', 'mail: done'],
  ['post', 'awaiting_decision', 'post: done'],
])('B007 %s that was accepted and not acknowledged stands once', async (service, _phase, said) => {
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

it('B009 of two workers on one session exactly one proceeds', async () => {
  const h = given({ model: once(['look', { what: 'x' }], ['post', { what: 'it' }]) });
  const [a, b] = [h.worker, h.join()];
  const id = await h.start('both');
  await h.done(Promise.all([a.api.rest(id), b.api.rest(id)]));
  await h.done(Promise.all([a.api.send(id, 'again'), b.api.send(id, 'and again')]));
  await h.rest(id);

  const holders = (await events(h, id, 'lease.acquired')).map(({ epoch }) => epoch);
  expect(holders).toEqual(holders.map((_, index) => index + 1));
  expect((await h.log(id)).map(({ seq }) => seq)).toEqual((await h.log(id)).map((_, index) => index + 1));
  expect(books(h)).toEqual(['post: it']);
});

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

it('B035 a worker that was frozen past its lease changes nothing when it goes on', async () => {
  const epochs: number[] = [];
  const touch = tool('touch', { kind: 'keyed', retentionMs: 1e9 }, async (_args, { epoch }) => {
    epochs.push(epoch);
    return { status: 'done', result: 'touched' };
  });
  const held = gate();
  const h = given({
    tools: [touch],
    model: async (request, { n }) => {
      if (n === 1) await held.pass();
      return once(['touch', {}])(request);
    },
  });
  const id = await h.start('touch it');
  const a = h.worker;
  await h.until(() => held.reached === 1, 'a model that writes');
  a.freeze();
  const b = h.join();
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer of the other worker');
  const head = (await h.log(id)).length;
  held.open();
  a.thaw();
  await h.pass(120_000);

  expect(epochs).toEqual([2]);
  expect(await h.log(id)).toHaveLength(head);
  expect((await events(h, id, 'lease.acquired')).map(({ holder }) => holder)).toEqual([a.holder, b.holder]);
});

it('B035 what a frozen worker still knows is evidence, and spares the question', async () => {
  const held = gate();
  const slow = tool('slow', { kind: 'blind' }, async () => {
    await held.pass();
    return { status: 'done', result: 'it is done' };
  });
  const h = given({ tools: [slow], model: once(['slow', {}]), limits: { effectTimeoutMs: 3_600_000 } });
  const id = await h.start('do it');
  const a = h.worker;
  await h.until(() => held.reached === 1, 'a call in flight');
  a.freeze();
  const b = h.join();
  expect(await h.done(b.api.rest(id))).toBe('awaiting_decision');
  held.open();
  a.thaw();
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer');

  expect(await responses(h, id)).toEqual(['slow: done']);
  expect(held.reached).toBe(1);
  expect(await events(h, id, 'evidence.received')).toHaveLength(1);
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
  expect(results(h.requests[1]).map(({ text }) => text)).toEqual(['"a"', '"first"', '"second"']);
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

it('B091 a worker whose renewal hangs stops itself before its lease ends', async () => {
  const leaseMs = 12_000;
  let aborted = 0;
  const h = given({
    leaseMs,
    model: async (request, { n, signal }) => {
      signal.addEventListener('abort', () => {
        aborted = h.clock.now();
      });
      if (n === 1) await h.clock.sleep(60_000);
      return once(['post', { what: 'it' }])(request);
    },
  });
  h.faulty.renew = () => new Promise(() => {});
  const begun = h.clock.now();
  const id = await h.start('post it');
  await h.until(() => aborted > 0, 'the end of the worker');
  expect(aborted - begun).toBeLessThan(leaseMs);
  delete h.faulty.renew;
  await h.rest(id);

  expect(books(h)).toEqual(['post: it']);
  expect(await responses(h, id)).toEqual(['post: done']);
});

it('B091 a lease counts from when it was asked for, not from when the answer came', async () => {
  const leaseMs = 12_000;
  const epochs: number[] = [];
  const touch = tool('touch', { kind: 'keyed', retentionMs: 1e9 }, async (_args, { epoch }) => {
    epochs.push(epoch);
    return { status: 'done', result: 'touched' };
  });
  const h = given({ leaseMs, tools: [touch], model: once(['touch', {}]) });
  // The store grants the lease at once and says so late; the mark becomes durable when that lease has ended.
  h.faulty.renew = () => new Promise(() => {});
  h.faulty.acquire = async (...args) => {
    delete h.faulty.acquire;
    const answer = await h.store.acquire(...args);
    await h.clock.sleep(leaseMs * 0.75);
    return answer;
  };
  h.faulty.commit = async (commit) => {
    const result = await h.store.commit(commit);
    if (commit.events.some(({ kind }) => kind === 'effect.dispatched')) {
      delete h.faulty.commit;
      delete h.faulty.renew;
      await h.clock.sleep(leaseMs * 0.3);
    }
    return result;
  };
  const id = await h.start('touch it');
  await h.rest(id);

  expect(await events(h, id, 'effect.dispatched')).toMatchObject([{ epoch: 1 }, { epoch: 2 }]);
  expect(epochs).toEqual([2]);
});

it('B093 a session that kills each worker is set aside, and the others are served', async () => {
  const deadly = tool('deadly', { kind: 'read' }, async () => {
    h.worker.kill();
    return new Promise(() => {});
  });
  const h = given({
    tools: [deadly],
    limits: { crashes: 3 },
    model: (request) =>
      instructions(request).includes('go on') || instructions(request).includes('be nice')
        ? say('fine')
        : calls(['deadly', {}]),
  });
  const id = await h.start('kill');
  let restarts = 0;
  for (; restarts < 8; restarts++) {
    await h.pass(60_000);
    if ((await h.state(id)).lifetime.quarantine !== null) break;
    h.restart();
  }
  const other = await h.start('be nice');
  await h.rest(other);
  const seen = await h.done(h.api.inspect(id));

  expect(restarts).toBe(3);
  expect(seen).toMatchObject({ phase: 'paused', reason: expect.stringMatching(/3 workers in a row died/) });
  expect(await responses(h, other)).toEqual(['fine']);
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

it('B176 what a step writes does not grow with what was before it', async () => {
  const written: number[] = [];
  const h = given({
    limits: { stepsPerTurn: 200 },
    model: (request) => {
      written.push(0);
      return results(request).length < 60 ? calls(['look', { what: 'x' }]) : say('done');
    },
  });
  h.faulty.commit = async (commit) => {
    const bytes = JSON.stringify({ ...commit, blobs: [] }).length;
    written[written.length - 1] = (written.at(-1) ?? 0) + bytes;
    return h.store.commit(commit);
  };
  written.push(0);
  const id = await h.start('a long conversation: '.padEnd(190_000, 'word '));
  await h.rest(id);

  expect(h.requests).toHaveLength(61);
  const [early = 0, late = 0] = [written[10], written[55]];
  expect(late).toBeLessThan(early * 1.1);
  expect(Math.max(...written.slice(2))).toBeLessThan(5_000);
});

it('B192 a clean exit in the middle of a cell loses no cell: the next worker runs it', async () => {
  const { sandbox: slow, entered, runs } = slowCells();
  const h = given({ sandbox: slow, model: once(['code', { source: 'work()' }]) });
  const id = await h.start('work');
  await h.until(() => entered(), 'a cell that runs');
  await h.done(h.api.close());
  h.join();
  await h.rest(id);

  expect(runs()).toBe(2);
  expect(await events(h, id, 'cell.aborted')).toEqual([]);
  expect(results(h.requests[1])).toMatchObject([{ status: 'done', text: 'worked' }]);
});

/** A sandbox whose first cell runs until it is told to end; the second comes to rest. */
function slowCells() {
  let runs = 0;
  const data = new Uint8Array([1]);
  const image = { form: 'base', engine: 'slow', digest: 'd', data } as const;
  const heap = {
    apply: (input: { readonly kind: string; readonly cell?: string }, signal: AbortSignal) => {
      if (++runs > 1) {
        const ended = [{ cell: input.cell ?? '', end: { status: 'done', value: 'worked' } as const }];
        return Promise.resolve({
          kind: 'rest',
          image,
          calls: [],
          ended,
          output: '',
          live: [],
          fuel: 1,
        } as const);
      }
      return new Promise<{ kind: 'aborted'; reason: 'interrupted'; message: ''; output: '' }>((resolve) => {
        const end = { kind: 'aborted', reason: 'interrupted', message: '', output: '' } as const;
        signal.addEventListener('abort', () => resolve(end));
      });
    },
    base: async () => image,
    close: async () => {},
  };
  const slow = {
    ...sandbox,
    prepare: (code: string) => ({ ok: true as const, code }),
    create: async () => heap,
    restore: async () => heap,
    replay: async () => ({ heap, applied: 0, diverged: null, digest: 'd' }),
    close: async () => {},
  };
  return { sandbox: slow, entered: () => runs === 1, runs: () => runs };
}
