/** A kernel that cannot be kept by value, of a session that rests: noticed, kept by whoever speaks, else given up. */

import { afterEach, describe, expect, it } from 'vitest';
import type { Event } from '../../core/event.ts';
import type { ModelRequest } from '../../core/message.ts';
import { KERNEL_CODE as CODE, FakeKernels, UNSAVED_WHY as WHY } from '../../testing/fake-kernels.ts';
import { calls, type Harness, harness, say } from '../../testing/harness.ts';

const HOUR = 3_600_000;
const PARK = 10 * 60_000;
const running: Harness[] = [];

afterEach(async () => {
  for (const h of running.splice(0)) {
    h.end();
    expect(await h.unsound()).toEqual([]);
  }
});

function given(kernelNoticeMs: number) {
  const fake = new FakeKernels();
  const h = harness({
    processes: fake.processes,
    tools: [fake.tool],
    limits: { kernelNoticeMs },
    model: ({ messages }: ModelRequest) =>
      messages.some(({ role }) => role === 'tool') ? say('done') : calls(['python', { code: CODE }]),
  });
  running.push(h);
  return { h, fake };
}

const of = async <Kind extends Event['kind']>(h: Harness, id: string, kind: Kind) =>
  (await h.log(id)).filter((e): e is Extract<Event, { kind: Kind }> => e.kind === kind);

const lostIn = async (h: Harness, id: string) =>
  (await of(h, id, 'kernel.noted')).flatMap((e) => e.lost.map((one) => ({ ...one, at: e.at })));

describe('a kernel with objects that cannot be kept', () => {
  it('stays in memory for ever where nobody said otherwise', async () => {
    const { h, fake } = given(0);
    const id = await h.start('load');
    await h.rest(id);
    await h.pass(11 * HOUR);
    expect(fake.of(id).memory).not.toBeNull();
    expect(fake.asked).toEqual([expect.stringMatching(/^park \d+$/)]);
    expect(await of(h, id, 'kernel.noticed')).toEqual([]);
    expect(await h.done(h.api.inbox())).toMatchObject({ items: [] });
  });

  it('is given up after its notice, and what is lost is told with the code that made it', async () => {
    const { h, fake } = given(2 * HOUR);
    const id = await h.start('load');
    await h.rest(id);
    await h.pass(PARK + 1_000);
    const [notice, ...more] = await of(h, id, 'kernel.noticed');
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ unsaved: [{ name: 'gen', type: 'generator', effect: 'e1', why: WHY }] });
    expect(notice?.until).toBe((notice?.at ?? 0) + 2 * HOUR);
    expect(fake.of(id).memory).not.toBeNull();

    expect(await h.done(h.api.inspect(id))).toMatchObject({
      residency: 'parked',
      kernel: { notice: { until: notice?.until, unsaved: [{ name: 'gen' }] } },
    });
    const { items } = await h.done(h.api.inbox());
    expect(items).toMatchObject([
      {
        session: id,
        id: 'resume',
        about: 'notice',
        expiresAt: notice?.until,
        answers: [{ answer: 'resume' }],
      },
    ]);
    expect(items[0]?.question).toMatch(/^Python objects of this session are given up at .*: gen\./);

    await h.pass((notice?.until ?? 0) - h.clock.now() - 1);
    expect(fake.of(id).memory).not.toBeNull();
    await h.pass(10_000);
    expect(fake.of(id).memory).toBeNull();
    expect(await lostIn(h, id)).toMatchObject([
      { name: 'gen', effect: 'e1', why: `given up by the owner's policy, after notice: ${WHY}` },
    ]);
    expect(await h.done(h.api.inspect(id))).toMatchObject({
      kernel: { live: [{ name: 'rows' }], notice: null, generation: 2 },
    });
    expect((await h.done(h.api.inbox())).items).toEqual([]);

    const told = h.requests.length;
    await h.tell(id, 'and now?');
    const present = JSON.stringify(h.requests[told]?.messages.at(-1));
    expect(present).toContain(
      `lost: gen of Python (generator, made by e1); e1 was: ${CODE}: given up by the owner's policy, after notice`,
    );
    expect(present).toContain('survived: of Python: rows');
    await h.pass(5 * HOUR);
    expect(await of(h, id, 'kernel.noticed')).toHaveLength(1);
  });

  it.each([
    ['a message', (h: Harness, id: string) => h.tell(id, 'keep them')],
    ['`resume`', (h: Harness, id: string) => h.done(h.api.resume(id))],
  ])('stays when %s comes in, and needs another notice', async (_, speak) => {
    const { h, fake } = given(HOUR);
    const id = await h.start('load');
    await h.rest(id);
    await h.pass(PARK + HOUR - 60_000);
    await speak(h, id);
    const spokeAt = h.clock.now();
    expect((await h.done(h.api.inspect(id))).kernel?.notice).toBeNull();
    await h.pass(PARK + HOUR - 60_000);
    expect(fake.of(id).memory).not.toBeNull();
    const notices = await of(h, id, 'kernel.noticed');
    expect(notices).toHaveLength(2);
    expect(notices[1]?.since).toBeGreaterThanOrEqual(spokeAt - 1_000);
    await h.pass(3 * 60_000);
    expect(fake.of(id).memory).toBeNull();
    expect(await of(h, id, 'kernel.released')).toHaveLength(1);
  });

  it('stays when a message stands in the log before the end of its notice is decided', async () => {
    const { h, fake } = given(HOUR);
    const id = await h.start('load');
    await h.rest(id);
    await h.pass(PARK + 1_000);
    const { commit } = h.store;
    let sent: Promise<unknown> | null = null;
    // Somebody speaks at the very moment at which the holder is about to say that nobody has.
    h.faulty.commit = async (batch) => {
      if (sent === null && batch.events.some(({ kind }) => kind === 'kernel.released')) {
        sent = h.api.send(id, 'still there?');
        await sent;
      }
      return commit.call(h.store, batch);
    };
    await h.pass(HOUR + PARK / 2);
    expect(sent).not.toBeNull();
    expect(fake.of(id).memory).not.toBeNull();
    expect(await of(h, id, 'kernel.released')).toEqual([]);
  });

  it('goes with a stop like everything else, without another notice', async () => {
    const { h, fake } = given(HOUR);
    const id = await h.start('load');
    await h.rest(id);
    await h.pass(PARK + 1_000);
    await h.done(h.api.stop(id));
    expect(fake.of(id).memory).toBeNull();
    await h.pass(3 * HOUR);
    expect((await h.done(h.api.inspect(id))).kernel?.notice).toBeNull();
    expect(await of(h, id, 'kernel.released')).toEqual([]);
  });

  /** Every call of a worker between its rest and the end of the notice, and after: killed before it and after it. */
  const upkeepCalls = async (at: { n: number; side: 'before' | 'after' } | null) => {
    const { h, fake } = given(HOUR);
    const id = await h.start('load');
    await h.rest(id);
    let n = 0;
    let isDead = false;
    const crossed: string[] = [];
    const crossing = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
      const mine = ++n;
      crossed.push(name);
      const dies = (side: 'before' | 'after') => !isDead && at?.n === mine && at.side === side;
      const die = (): Promise<never> => {
        isDead = true;
        h.worker.kill();
        return new Promise<never>(() => {});
      };
      if (dies('before')) return die();
      const value = await call();
      return dies('after') ? die() : value;
    };
    const { commit } = h.store;
    h.faulty.commit = (batch) =>
      crossing(`commit ${batch.events.map(({ kind }) => kind).join(' ')}`, () => commit.call(h.store, batch));
    const { processes } = fake;
    const { park, objects } = processes;
    processes.park = (...asked) => crossing('park', () => park(...asked));
    processes.objects = (...asked) => crossing('objects', () => objects(...asked));
    for (let minutes = 0; minutes < 2 * 60; minutes++) {
      await h.pass(60_000);
      if (isDead && at) {
        h.restart();
        at = null;
      }
    }
    return { h, fake, id, n, crossed };
  };

  it('is noticed once and given up once, wherever a worker dies', async () => {
    const { n: calls, crossed } = await upkeepCalls(null);
    expect(crossed.join(', ')).toMatch(
      /park, .*kernel\.noticed.*kernel\.released.*objects, park, objects, commit/,
    );
    for (let n = 1; n <= calls; n++) {
      for (const side of ['before', 'after'] as const) {
        const { h, fake, id } = await upkeepCalls({ n, side });
        const where = `killed ${side} call ${n} of ${calls}: ${crossed[n - 1]}`;
        const notices = await of(h, id, 'kernel.noticed');
        expect(notices.length, where).toBe(1);
        expect(await of(h, id, 'kernel.released'), where).toHaveLength(1);
        const lost = await lostIn(h, id);
        expect(
          lost.map(({ name }) => name),
          where,
        ).toEqual(['gen']);
        expect(lost[0]?.at, where).toBeGreaterThanOrEqual(notices[0]?.until ?? 0);
        expect(lost[0]?.why, where).toContain(WHY);
        expect(fake.of(id).memory, where).toBeNull();
      }
    }
  });
});
