/** A session that its owner's policy deletes, or somebody's order: noticed, kept by whoever speaks, else a tombstone. */

import { describe, expect, it } from 'vitest';
import type { SessionId } from '../../src/core/ids.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import type { Processes, Report } from '../../src/sandbox/process/port.ts';
import { calls, type Harness, type HarnessOptions, read, say } from '../../src/testing/harness.ts';
import { DELEGATION } from '../../src/tools/delegate/delegate.ts';
import { FILE_TOOLS } from '../../src/tools/files/tools.ts';
import { given as begun, events as of, sandbox } from './kit.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KEPT = 8 * HOUR;
const GRACE = 2 * HOUR;

const given = (options: HarnessOptions = {}): Harness =>
  begun({ limits: { retentionMs: KEPT }, model: () => say('done'), ...options });

const kinds = async (h: Harness, id: string) => (await h.log(id)).map(({ kind }) => kind);
const errorOf = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);

/** In steps, since the harness waits for half a day at most. */
async function pass(h: Harness, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10 * HOUR) await h.pass(Math.min(left, 10 * HOUR));
}

describe('by policy', () => {
  it('never, where nobody asked for it', async () => {
    const h = given({ limits: {} });
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    await pass(h, 3 * KEPT);
    expect(await kinds(h, id)).not.toContain('retention.noticed');
    expect(await h.done(h.api.inspect(id))).toMatchObject({ retention: null, phase: 'awaiting_input' });
  });

  it('after a notice that stands for its whole time, everywhere; and a tombstone says what was deleted', async () => {
    const h = given({
      model: (request) =>
        read(request).results.length === 0 ? calls(['pay', { what: 'rent' }]) : say('paid the rent'),
    });
    const id = await h.start('pay the rent', { persist: true, key: 'first' });
    await h.rest(id);
    const { activeAt } = await h.state(id);
    await pass(h, KEPT - GRACE - 60_000);
    expect(await kinds(h, id)).not.toContain('retention.noticed');
    await pass(h, 2 * 60_000);
    const [notice] = await of(h, id, 'retention.noticed');
    expect(notice).toMatchObject({ since: activeAt, until: activeAt + KEPT });
    expect(await h.done(h.api.inspect(id))).toMatchObject({
      phase: 'awaiting_input',
      retention: { keptMs: KEPT, deleteAt: activeAt + KEPT },
    });
    const { items } = await h.done(h.api.inbox());
    expect(items).toMatchObject([{ session: id, about: 'notice', id: 'resume', expiresAt: activeAt + KEPT }]);
    expect(items[0]?.question).toMatch(/is deleted at .* Shall it be kept\?/);

    const before = (await h.state(id)).head;
    await pass(h, activeAt + KEPT - h.clock.now() - 1_000);
    expect(await kinds(h, id)).not.toContain('session.deleted');
    await pass(h, 30_000);
    const log = await h.log(id);
    expect(log).toMatchObject([
      {
        kind: 'session.deleted',
        cause: { by: 'policy', since: activeAt, until: activeAt + KEPT },
        was: { title: 'pay the rent', persist: true },
        had: { turns: 1, effects: { done: 1 } },
      },
    ]);
    expect(log[0]?.seq).toBeGreaterThan(before);
    expect(log[0]).toMatchObject({ had: { events: (log[0]?.seq ?? 0) - 1 } });
    expect(JSON.stringify(log)).not.toContain('paid the rent');
    expect((await h.done(h.api.inbox())).items).toEqual([]);
    expect(await h.done(h.api.list())).toMatchObject([
      { id, phase: 'deleted', title: 'pay the rent', turn: 1 },
    ]);
    expect(await h.store.nextDue()).toBeNull();
  });

  it.each([
    ['a message', (h: Harness, id: string) => h.tell(id, 'stay')],
    ['`resume`', (h: Harness, id: string) => h.done(h.api.resume(id))],
  ])('not when %s comes in meanwhile, and then not without another notice', async (_, speak) => {
    const h = given();
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    await pass(h, KEPT - 60_000);
    expect(await of(h, id, 'retention.noticed')).toHaveLength(1);
    await speak(h, id);
    expect((await h.done(h.api.inspect(id))).retention?.deleteAt).toBeNull();
    const spoke = (await h.state(id)).activeAt;
    await pass(h, KEPT - 60_000);
    expect(await of(h, id, 'retention.noticed')).toMatchObject([{}, { since: spoke, until: spoke + KEPT }]);
    await pass(h, 2 * 60_000);
    expect(await kinds(h, id)).toEqual(['session.deleted']);
  });

  it('not when a message stands in the log before the end of its notice is decided', async () => {
    const h = given();
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    const { commit } = h.store;
    let sent: Promise<unknown> | null = null;
    h.faulty.commit = async (batch) => {
      if (sent === null && batch.events.some(({ kind }) => kind === 'retention.over')) {
        sent = h.api.send(id, 'still there?');
        await sent;
      }
      return commit.call(h.store, batch);
    };
    await pass(h, KEPT + HOUR);
    expect(sent).not.toBeNull();
    expect(await kinds(h, id)).not.toContain('retention.over');
    expect((await h.state(id)).lastTurn).toMatchObject({ number: 2, end: 'surfaced' });
  });

  it('keeps what was stopped stopped, when somebody wants it kept', async () => {
    const h = given();
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    await h.done(h.api.stop(id));
    await pass(h, KEPT - 60_000);
    expect((await h.done(h.api.inbox())).items).toMatchObject([{ about: 'notice' }]);
    expect(await h.done(h.api.resume(id))).toBe('stopped');
    await pass(h, KEPT - 60_000);
    expect(await kinds(h, id)).not.toContain('session.deleted');
    await pass(h, 2 * 60_000);
    expect(await kinds(h, id)).toEqual(['session.deleted']);
  });

  it.each([
    ['a question is open', calls(['ask_person', { question: 'Which?' }])],
    ['a timer is set', calls(['sleep', { seconds: 90 * 24 * 3600 }])],
  ])('not while %s', async (_, reply) => {
    const h = given({ model: [reply] });
    const id = await h.start('work', { persist: true });
    await pass(h, 3 * KEPT);
    expect(await kinds(h, id)).not.toContain('retention.noticed');
  });

  it('not while a background job runs: it is looked at again, and noticed once that has ended', async () => {
    const jobs: Partial<Report>[] = [{ job: 'j1', command: 'sleep 1d' }];
    const erased: string[] = [];
    const processes = {
      running: async () => jobs,
      erase: async (session: string) => void erased.push(session),
      park: async () => ({ status: 'parked', kept: [] }),
      objects: async () => null,
      hold() {},
      async end() {},
      async close() {},
    } as unknown as Processes;
    const h = given({ processes });
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    await pass(h, 3 * KEPT);
    const looks = await of(h, id, 'retention.deferred');
    expect(looks.length).toBeGreaterThan(2);
    expect(looks[0]?.why).toBe('j1 still runs: sleep 1d');
    expect(await kinds(h, id)).not.toContain('retention.noticed');
    jobs.length = 0;
    await pass(h, KEPT);
    expect(await kinds(h, id)).toEqual(['session.deleted']);
    expect(erased).toEqual([id]);
  });
});

describe('by order', () => {
  it('of what is over and settled alone; else it is said what to do first', async () => {
    const h = given({
      limits: {},
      model: [calls(['post', { what: 'it' }])],
    });
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    expect(await errorOf(h.done(h.api.delete(id)))).toMatchObject({
      code: 'session.not_stopped',
      next: expect.stringContaining('outlast stop'),
    });
    await h.done(h.api.stop(id));
    expect(await h.done(h.api.delete(id))).toMatchObject({
      status: 'deleted',
      at: expect.any(Number),
      had: { effects: { done: 1 } },
    });
    // Again it is no other.
    expect(await h.done(h.api.delete(id))).toMatchObject({
      status: 'deleted',
      had: { effects: { done: 1 } },
    });
    expect(await of(h, id, 'session.deleted')).toMatchObject([{ cause: { by: 'order', who: 'local' } }]);
  });

  it('not of what has an effect that nobody knows the end of', async () => {
    const h = given({ limits: { effectTimeoutMs: 1_000 }, model: () => calls(['post', { what: 'it' }]) });
    h.world.loseAnswers.set('post', 1);
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    await h.done(h.api.stop(id));
    const error = await errorOf(h.done(h.api.delete(id)));
    expect(error).toMatchObject({ code: 'session.unsettled', next: expect.stringContaining('outlast') });
    expect(await kinds(h, id)).not.toContain('session.deleting');
  });

  it('whoever wants anything of it afterwards hears what there was, and nothing is started twice', async () => {
    const h = given({ limits: {} });
    const id = await h.start('work', { key: 'k', persist: false });
    await h.rest(id);
    await h.done(h.api.delete(id));
    const { events } = (await of(h, id, 'session.deleted'))[0]?.had ?? {};
    const asked: Record<string, () => Promise<unknown>> = {
      send: () => h.api.send(id, 'hello'),
      inspect: () => h.api.inspect(id),
      reopen: () => h.api.reopen(id),
      fork: () => h.api.fork(id),
      ask: () => h.api.ask(id, 'what was it?'),
      recall: () => h.api.recall(id),
      report: () => h.api.report(id),
      files: () => h.api.files(id),
      pause: () => h.api.pause(id),
      start: () => h.api.start({ message: 'work', key: 'k' }),
    };
    for (const [call, ask] of Object.entries(asked)) {
      const error = (await errorOf(h.done(ask()))) as Error & { code: string; next: string };
      expect([call, error?.code]).toEqual([call, 'session.deleted']);
      expect(error.message).toMatch(/^This session was deleted at 20.*Z by order of local\. It had/);
      expect(error.message).toContain(`${events} events`);
      expect(error.next).toContain('start a new one');
    }
    expect(await h.done(h.api.events(id, 0, 10))).toHaveLength(1);
    expect(await h.done(h.api.verify(id))).toMatchObject({ events: 1, violations: [] });
    expect(await h.done(h.api.list())).toHaveLength(1);
  });

  it('followers get the tombstone, and end; one that was cut off before finds it as well', async () => {
    const h = given({ limits: {} });
    const id = await h.start('work', { persist: false });
    await h.rest(id);
    const follow = async (after: number) => {
      const seen: string[] = [];
      for await (const event of h.api.follow(id, { after })) seen.push(event.kind);
      return seen.at(-1);
    };
    const live = follow(0);
    await h.done(h.api.delete(id));
    expect(await h.done(live)).toBe('session.deleted');
    for (const after of [0, 1, 5]) expect(await h.done(follow(after))).toBe('session.deleted');
  });

  it('a result that comes late for it changes nothing', async () => {
    const h = given({
      limits: { effectTimeoutMs: 1_000 },
      model: [calls(['look', { what: 'x' }]), say('done')],
    });
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    await h.done(h.api.stop(id));
    await h.done(h.api.delete(id));
    const before = await h.log(id);
    await pass(h, DAY);
    h.restart();
    await pass(h, DAY);
    expect(await h.log(id)).toEqual(before);
  });

  it('nothing outside stays: a folder that does not go keeps it from having a tombstone', async () => {
    const h = given({ limits: {} });
    const id = await h.start('work', { persist: true });
    await h.rest(id);
    h.workspaces.hands.put(id, 'a.txt', 'secret');
    await h.done(h.api.stop(id));
    const { erase } = h.workspaces;
    let refusals = 3;
    h.workspaces.erase = async (session: SessionId, epoch: number) => {
      if (refusals-- > 0) throw new Error('the disk says no');
      await erase(session, epoch);
    };
    await h.done(h.api.delete(id, { waitMs: 1 }));
    expect(await h.done(h.api.inspect(id))).toMatchObject({ phase: 'deleting' });
    expect(await errorOf(h.done(h.api.send(id, 'wait!')))).toMatchObject({ code: 'session.deleted' });
    expect(h.workspaces.hands.text(id, 'a.txt')).toBe('secret');
    await pass(h, HOUR);
    expect(await kinds(h, id)).toEqual(['session.deleted']);
    expect(h.workspaces.hands.text(id, 'a.txt')).toBeNull();
  });
});

describe('what belongs together', () => {
  const parent = (request: ModelRequest) =>
    request.messages.some(({ role }) => role === 'tool')
      ? say('both done')
      : calls(['delegate', { task: 'child task' }]);
  const model = (request: ModelRequest) =>
    JSON.stringify(request).includes('"child task"') && !JSON.stringify(request).includes('parent task')
      ? say('child done')
      : parent(request);

  const family = async (h: Harness) => {
    const top = await h.start('parent task', { persist: true });
    await h.rest(top);
    const [child] = (await h.state(top)).family.children;
    if (!child) throw new Error('it has a child');
    return { top, child: child.id };
  };

  it('R3 a child stays as long as its parent lives, and goes with it, before it', async () => {
    const h = given({ model, tools: DELEGATION });
    const { top, child } = await family(h);
    await pass(h, KEPT - 60_000);
    expect(await kinds(h, child)).not.toContain('retention.noticed');
    await h.tell(top, 'stay');
    await pass(h, KEPT - 60_000);
    expect(await kinds(h, child)).not.toContain('session.deleted');
    await pass(h, 10 * 60_000);
    expect(await kinds(h, top)).toEqual(['session.deleted']);
    expect(await of(h, child, 'session.deleted')).toMatchObject([
      { cause: { by: 'order', who: top }, was: { parent: { session: top } } },
    ]);
    const [ofChild] = await h.log(child);
    const [ofTop] = await h.log(top);
    expect(ofChild?.at).toBeLessThanOrEqual(ofTop?.at ?? 0);
  });

  it('who speaks to the child keeps both', async () => {
    const h = given({ model, tools: DELEGATION });
    const { top, child } = await family(h);
    await pass(h, KEPT - 60_000);
    expect(await kinds(h, top)).toContain('retention.noticed');
    await h.tell(child, 'child task, again');
    await pass(h, HOUR);
    expect(await kinds(h, top)).not.toContain('session.deleted');
    expect(await kinds(h, child)).not.toContain('session.deleting');
  });

  it('a fork is whole when its original is deleted: its heap, its files, and what is said to it', async () => {
    const h = given({
      limits: {},
      sandbox,
      tools: FILE_TOOLS,
      model: (request) => {
        const { results } = read(request);
        if (results.length === 0) return calls(['write_file', { path: 'a.txt', content: 'of both' }]);
        if (results.length === 1) return calls(['read_file', { path: 'a.txt' }]);
        return say(`read: ${results.at(-1)?.text}`);
      },
    });
    const id = await h.start('write it', { persist: true });
    await h.rest(id);
    const { session: fork } = await h.done(h.api.fork(id));
    const log = await h.log(fork);
    const tree = (await h.state(fork)).workspace.tree;
    expect(tree).not.toBeNull();
    await h.done(h.api.stop(id));
    await h.done(h.api.delete(id));
    expect(await h.log(fork)).toEqual(log);
    expect(await h.done(h.api.verify(fork))).toMatchObject({ violations: [] });
    const file = await h.done(h.api.file(fork, 'a.txt'));
    expect(new TextDecoder().decode(file.data)).toBe('of both');
    await h.tell(fork, 'and now?');
    expect((await h.state(fork)).workspace.restored).toMatchObject({ rung: 'restored', lost: [] });
    expect(h.workspaces.hands.text(fork as SessionId, 'a.txt')).toBe('of both');
  });
});
