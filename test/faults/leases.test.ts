/** Leases: two workers, frozen ones, renewals that hang, workers that end. One of them acts, and nothing is lost between. */

import { expect, it } from 'vitest';
import { OutlastError } from '../../src/core/error.ts';
import { calls, gate, say, tool } from '../../src/testing/harness.ts';
import { books, events, given, instructions, once, responses, results, sandbox } from './kit.ts';

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

it('B035 a worker that was frozen past its lease changes nothing when it goes on', async () => {
  const epochs: number[] = [];
  const touch = tool('touch', { kind: 'keyed', retentionMs: 1e9 }, async (_args, { epoch }) => {
    epochs.push(epoch);
    return { status: 'done', result: 'touched' };
  });
  const [commit, reply] = [gate(), gate()];
  const h = given({
    tools: [touch],
    model: async (request, { n }) => {
      if (n === 2) await reply.pass();
      return once(['touch', {}])(request);
    },
  });
  h.faulty.commit = async (wanted) => {
    const isFirst = wanted.epoch === 1 && wanted.events.some(({ kind }) => kind === 'model.completed');
    if (isFirst && commit.reached === 0) await commit.pass();
    return h.store.commit(wanted);
  };
  const id = await h.start('touch it');
  const a = h.worker;
  await h.until(() => commit.reached === 1, 'a commit on its way');
  a.freeze();
  const b = h.join();
  await h.until(() => reply.reached === 1, 'the other worker at the same step');
  const head = (await h.log(id)).length;
  // Now it arrives: a reply, and a call that follows from it, which the successor still waits for.
  commit.open();
  a.thaw();
  await h.pass(1_000);
  expect(await h.log(id)).toHaveLength(head);
  expect(epochs).toEqual([]);
  reply.open();
  await h.done(b.api.rest(id));
  await h.pass(60_000);

  expect(epochs).toEqual([2]);
  expect(await events(h, id, 'model.completed')).toHaveLength(2);
  expect((await events(h, id, 'lease.acquired')).map(({ holder }) => holder)).toEqual([a.holder, b.holder]);
});

it('B035 a worker that was frozen past its lease records nothing under it, where nobody came either', async () => {
  const leaseMs = 12_000;
  const h = given({ leaseMs, model: once(['post', { what: 'it' }]) });
  let frozen = 0;
  h.faulty.claim = async (...args) => {
    const claimed = await h.store.claim(...args);
    // The process stood still here, and goes on to its next commit.
    if (frozen++ === 0) h.clock.elapse(leaseMs + 1);
    return claimed;
  };
  const id = await h.start('post it');
  await h.rest(id);

  expect((await events(h, id, 'lease.acquired')).map(({ epoch }) => epoch)).toEqual([2]);
  expect(books(h)).toEqual(['post: it']);
  expect(await responses(h, id)).toEqual(['post: done']);
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

it('B018 a store that is full for long sets no session aside: nobody died over it', async () => {
  const h = given({ model: once(['post', { what: 'it' }]) });
  let isFull = true;
  // Leases and their first commit get through; what would have to be kept does not.
  h.faulty.commit = async (commit) => {
    const isReply = commit.events.some(({ kind }) => kind === 'model.completed');
    if (isFull && isReply) throw new OutlastError('store.full', 'The disk is full.');
    return h.store.commit(commit);
  };
  const id = await h.start('post it');
  await h.until(() => h.reports.filter((line) => /ended with an error/.test(line)).length >= 6, 'six drives');
  isFull = false;
  await h.rest(id);

  expect(await events(h, id, 'session.quarantined')).toEqual([]);
  expect(books(h)).toEqual(['post: it']);
  expect(await responses(h, id)).toEqual(['post: done']);
});
