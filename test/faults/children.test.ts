/** Children: spawned once, bounded, owned, heard once, and never waited for in vain. */

import { expect, it } from 'vitest';
import { fold } from '../../src/core/evolve.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import { calls, gate, type Harness, say, tool } from '../../src/testing/harness.ts';
import { DELEGATION } from '../../src/tools/delegate/delegate.ts';
import type { Answer } from '../../src/tools/port.ts';
import { books, events, given, hanging, instructions, present, responses, results, sandbox } from './kit.ts';

/** The first instruction tells who is asked. */
const order = (request: ModelRequest): string => instructions(request)[0] ?? '';

const childrenOf = async (h: Harness, session: string): Promise<readonly string[]> =>
  (await h.state(session)).family.children.map(({ id }) => id);

const DONE: Answer = { status: 'done', result: 1 };

/** All sessions of the store. */
const everybody = async (h: Harness) => h.store.list({ limit: 500 });

it('a child does its part, and its result is that of the call', async () => {
  const h = given({
    tools: DELEGATION,
    model: (request) => {
      if (order(request) === 'pay two') {
        const got = results(request);
        if (got.length > 0) return say(got.map(({ status, text }) => `${status}: ${text}`).join('\n'));
        return calls(['delegate', { task: 'pay one' }], ['delegate', { task: 'pay another' }]);
      }
      const got = results(request);
      return got.length === 0
        ? calls(['pay', { what: order(request).slice(4) }])
        : say(`${order(request)}: ok`);
    },
  });
  const id = await h.start('pay two');
  expect(await h.rest(id)).toBe('awaiting_input');
  const [text] = await responses(h, id);
  expect(text).toMatch(/done: Child ses_[0-9a-f]{24} \("pay one"\) answered:\n> pay one: ok\n/);
  expect(text).toMatch(/What it did outside, as its ledger knows it:\n- e1 pay to pay service: done/);
  expect([...books(h)].sort()).toEqual(['pay: another', 'pay: one']);
  const [surfaced] = await events(h, id, 'response.surfaced');
  const children = await childrenOf(h, id);
  expect(surfaced?.claims.map(({ session, status }) => [session, status])).toEqual(
    children.map((child) => [child, 'done']),
  );
  expect((await events(h, id, 'child.spawned')).length).toBe(2);
});

it('B021 no tree grows beyond its depth and its total', async () => {
  const h = given({
    tools: DELEGATION,
    limits: { childDepth: 3, childrenTotal: 12, childrenAtOnce: 5 },
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got.map(({ status }) => status).join(' '));
      return calls(...[1, 2, 3, 4, 5].map((n) => ['delegate', { task: `${order(request)}.${n}` }] as const));
    },
  });
  const id = await h.start('0');
  await h.rest(id);
  expect((await everybody(h)).length).toBe(1 + 12);
  const refused = h.requests
    .flatMap(results)
    .filter(({ text }) => text.includes('that may come of this one'));
  expect(refused.length).toBeGreaterThan(0);
  const depths = await Promise.all(
    (await everybody(h)).map(async (row) => (await h.state(row.id)).family.parent?.depth ?? 0),
  );
  expect(Math.max(...depths)).toBeLessThanOrEqual(3);
});

it('B181 children are counted over the life of a session, and finished ones hold no place', async () => {
  const h = given({
    tools: DELEGATION,
    limits: { childrenTotal: 30, childrenAtOnce: 1, stepsPerTurn: 200 },
    model: (request) => {
      if (order(request) !== 'all') return say('ok');
      const got = results(request);
      return got.length < 35 ? calls(['delegate', { task: `part ${got.length + 1}` }]) : say('all');
    },
  });
  const id = await h.start('all');
  await h.rest(id);
  const got = results(h.requests.at(-1)).map(({ status }) => status);
  expect(got.slice(0, 30).every((status) => status === 'done')).toBe(true);
  expect(got.slice(30)).toEqual(Array(5).fill('refused'));
  expect((await everybody(h)).length).toBe(31);
});

it('B038 children of a parent whose worker is lost are its own again, and nothing is spawned twice', async () => {
  const { held, hang } = hanging();
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const got = results(request);
      if (order(request) === 'two') {
        if (got.length > 0) return say(got.map(({ status }) => status).join(' '));
        return calls(['delegate', { task: 'a' }], ['delegate', { task: 'b' }]);
      }
      return got.length === 0 ? calls(['hang', {}]) : say('ok');
    },
  });
  const id = await h.start('two');
  await h.until(() => held.reached === 2, 'both children are at work');
  const before = await childrenOf(h, id);
  h.restart();
  await h.until(() => held.reached === 4, 'both are at work again');
  held.open();
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(await responses(h, id)).toEqual(['done done']);
  expect(await childrenOf(h, id)).toEqual(before);
  expect((await everybody(h)).length).toBe(3);
  // Stopped, it takes them with it.
  await h.done(h.api.stop(id));
  await h.pass(60_000);
  const phases = await Promise.all((await everybody(h)).map(async (row) => row.phase));
  expect(phases).toEqual(['stopped', 'stopped', 'stopped']);
});

it('B038 the recovery report tells of children: at work by their ids, and by what they have told since', async () => {
  const { held, hang } = hanging();
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      if (results(request).some(({ tool }) => tool === 'hang')) return say('ok');
      return order(request) === 'two'
        ? calls(
            ['delegate', { task: 'a', wait: false }],
            ['delegate', { task: 'b', wait: false }],
            ['hang', {}],
          )
        : calls(['hang', {}]);
    },
  });
  const id = await h.start('two');
  await h.until(() => held.reached === 3, 'both children are at work, and their parent');
  const [a, b] = await childrenOf(h, id);
  h.restart();
  await h.until(() => held.reached === 6, 'all three are at work again');
  const report = async () =>
    (await h.done(h.api.report(id))).lines.flatMap(({ kind, fate, what }) =>
      kind === 'children' ? [`${fate} ${what}`] : [],
    );
  expect(await report()).toEqual([
    `survived Child ${a} ("a") is at work, 1 order without a result`,
    `survived Child ${b} ("b") is at work, 1 order without a result`,
  ]);
  held.open();
  await h.until(async () => (await events(h, id, 'child.reported')).length >= 2, 'both have told');
  await h.rest(id);
  expect(await report()).toEqual([
    `re-observed Child ${a} ("a") answered`,
    `re-observed Child ${b} ("b") answered`,
  ]);
  const mine = h.requests.filter((request) => order(request) === 'two').map(present);
  expect(mine[0]).not.toContain('recovery report');
  expect(mine[1]).toMatch(new RegExp(`^- children, (survived|re-observed): Child ${a} `, 'm'));
});

it('B039 a child that is killed is told as one terminal result, whatever killed it', async () => {
  const { held, hang } = hanging();
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { effectTimeoutMs: 3_600_000, crashes: 3 },
    model: (request) => {
      const got = results(request);
      if (order(request) === 'two') {
        if (got.length > 0) return say(got.map(({ status, text }) => `${status}: ${text}`).join('\n'));
        return calls(['delegate', { task: 'a' }], ['delegate', { task: 'b' }]);
      }
      return got.length === 0 ? calls(['hang', {}]) : say('ok');
    },
  });
  const id = await h.start('two');
  await h.until(() => held.reached === 2, 'both children are at work');
  const [a] = await childrenOf(h, id);
  await h.done(h.api.stop(a as string));
  // The other one is killed again and again with its worker, until it is taken out of the way.
  for (let kills = 0; kills < 4; kills++) {
    await h.pass(1_000);
    h.restart();
    await h.pass(10_000);
  }
  expect(await h.rest(id)).toBe('awaiting_input');
  const [text = ''] = await responses(h, id);
  expect(text).toMatch(/failed: Child ses_\w+ \("a"\) was stopped:/);
  expect(text).toMatch(/failed: Child ses_\w+ \("b"\) was taken out of the way, and waits for a person:/);
  expect((await events(h, id, 'response.surfaced'))[0]?.partial).toEqual(['a', 'b']);
});

it('B083 a child that asked goes on an hour and a restart later with all that it had', async () => {
  const h = given({
    sandbox,
    tools: DELEGATION,
    model: (request) => {
      const got = results(request);
      if (order(request) === 'parent') {
        const said = instructions(request).length;
        if (said === 1) return got.length === 0 ? calls(['delegate', { task: 'child' }]) : say('asked');
        if (got.length > 1) return say(got.at(-1)?.text ?? '');
        const [, child] = /Child (ses_\w+)/.exec(got[0]?.text ?? '') ?? [];
        return calls(['continue_child', { child: child as string, message: 'blue' }]);
      }
      const said = instructions(request);
      if (said.length === 1)
        return got.length === 0 ? calls(['code', { source: 'const kept = 41' }]) : say('Which colour?');
      if (got.length === 1) return calls(['code', { source: 'kept + 1' }]);
      return say(`${said.join(', ')}: ${got.map(({ text }) => text).join(' | ')}`);
    },
  });
  const id = await h.start('parent');
  await h.rest(id);
  await h.pass(3_600_000);
  h.restart();
  await h.tell(id, 'say blue');
  expect((await responses(h, id)).at(-1)).toMatch(/> child, blue: .*42/);
  expect((await everybody(h)).length).toBe(2);
});

it('B021 one more at the same time than may be is refused to the model, and there is room again when one is done', async () => {
  const { held, hang } = hanging();
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { childrenAtOnce: 1, effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const got = results(request);
      if (order(request) !== 'two') return got.length === 0 ? calls(['hang', {}]) : say('ok');
      if (got.length === 0) return calls(['delegate', { task: 'a' }], ['delegate', { task: 'b' }]);
      if (got.length === 2) return calls(['delegate', { task: 'c' }]);
      return say(got.map(({ text }) => text.split('\n')[0]).join('\n'));
    },
  });
  const id = await h.start('two');
  await h.until(() => held.reached === 1, 'one child is at work');
  held.open();
  expect(await h.rest(id)).toBe('awaiting_input');
  const [text = ''] = await responses(h, id);
  const [one, other, later] = text.split('\n');
  expect([one, other].filter((line) => line?.includes('[children.busy]'))).toHaveLength(1);
  expect([one, other].filter((line) => line?.endsWith('answered:'))).toHaveLength(1);
  expect(later).toMatch(/\("c"\) answered:$/);
  expect((await childrenOf(h, id)).length).toBe(2);
});

it('B131 a result is told once, however often workers are restarted', async () => {
  const h = given({
    tools: DELEGATION,
    model: (request) => {
      if (order(request) === 'child') return say('the result');
      const got = results(request);
      return got.length === 0 ? calls(['delegate', { task: 'child', wait: false }]) : say('heard');
    },
  });
  const id = await h.start('parent');
  await h.rest(id);
  for (let n = 0; n < 5; n++) {
    h.restart();
    await h.pass(30_000);
  }
  const told = (h.requests.at(-1)?.messages ?? []).filter(
    (message) => message.role === 'user' && message.text.includes('> the result'),
  );
  expect(told.length).toBe(1);
  expect((await events(h, id, 'child.reported')).filter(({ result }) => result !== null).length).toBe(1);
});

it('B039 a result that comes before its instruction is written down is not waited for again', async () => {
  const h = given({
    tools: DELEGATION,
    model: (request) => {
      if (order(request) === 'child') return say(`heard ${instructions(request).length}`);
      const got = results(request);
      const child = /ses_[0-9a-f]{24}/.exec(got[0]?.text ?? '')?.[0] ?? '';
      if (got.length === 0) return calls(['delegate', { task: 'child' }]);
      return got.length === 1 ? calls(['continue_child', { child, message: 'more' }]) : say('all is back');
    },
  });
  const id = await h.start('parent');
  await h.rest(id);
  // The store failed between the two: what the child did stands before what was asked of it.
  const log = await h.log(id);
  const instructed = log.findIndex(({ kind }) => kind === 'child.instructed');
  const answer = log.findIndex(({ kind }, i) => i > instructed && kind === 'child.reported');
  const early = [...log.slice(0, instructed), log[answer], ...log.slice(instructed, answer)];
  const s = fold(early.flatMap((event, i) => (event ? [{ ...event, seq: i + 1 }] : [])));
  expect(s.family.children).toMatchObject([{ asked: [], last: { text: 'heard 2' } }]);
  const step = s.turn?.step;
  const last = step?.phase === 'acting' ? step.calls.at(-1) : undefined;
  expect(last).toMatchObject({ state: 'answered', result: { status: 'done' } });
  expect(JSON.stringify(last)).toContain(`event #${instructed + 1} has what came of it`);
});

it('B164 a response that stands on children that were cut off says so', async () => {
  const { held, hang } = hanging();
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const got = results(request);
      if (order(request) === 'three')
        return got.length > 0
          ? say('done')
          : calls(...['a', 'b', 'c'].map((task) => ['delegate', { task }] as const));
      if (order(request) === 'b') return say('ok');
      return got.length === 0 ? calls(['hang', {}]) : say('ok');
    },
  });
  const id = await h.start('three');
  await h.until(() => held.reached === 2, 'two children hang');
  const [a, , c] = await childrenOf(h, id);
  await h.done(h.api.stop(a as string));
  await h.done(h.api.interrupt(c as string));
  await h.rest(id);
  expect((await events(h, id, 'response.surfaced'))[0]).toMatchObject({ text: 'done', partial: ['a', 'c'] });
});

it('what nobody knows of a child is its parent’s too, and its question reaches a person', async () => {
  const h = given({
    tools: DELEGATION,
    limits: { effectTimeoutMs: 1_000 },
    model: (request) => {
      const got = results(request);
      if (order(request) === 'child')
        return got.length === 0 ? calls(['post', { what: 'it' }]) : say('posted');
      if (got.length === 0) return calls(['delegate', { task: 'child', wait: false }]);
      if (got.length === 1) return calls(['sleep', { seconds: 30 }]);
      if (got.length === 2) return calls(['post', { what: 'it' }]);
      return say(got.at(-1)?.status ?? '');
    },
  });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('parent');
  await h.pass(60_000);
  const [child = ''] = await childrenOf(h, id);
  const { standing } = (await h.state(id)).family.children[0] ?? {};
  expect(standing?.unknown).toMatchObject([{ session: child, tool: 'post', target: 'post service' }]);
  expect(standing?.questions).toMatchObject([{ session: child, decision: 'd1', about: 'unknown' }]);
  expect((await h.done(h.api.inbox())).items.map(({ session }) => session)).toEqual([child]);
  expect(books(h)).toEqual(['post: it']);
  await h.done(h.api.decide(child, 'd1', 'done'));
  await h.pass(60_000);
  // What was held is done once it is known, and its own answer is what is said.
  expect(books(h)).toEqual(['post: it', 'post: it']);
  expect((await responses(h, id)).at(-1)).toBe('done');
});

it('a pause goes down the tree, and so does going on', async () => {
  const { held, hang } = hanging();
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const got = results(request);
      if (order(request) === 'child') return got.length === 0 ? calls(['hang', {}]) : say('worked');
      return got.length === 0 ? calls(['delegate', { task: 'child' }]) : say('heard');
    },
  });
  const id = await h.start('parent');
  await h.until(() => held.reached === 1, 'the child works');
  const [child = ''] = await childrenOf(h, id);
  await h.done(h.api.pause(id));
  await h.pass(1_000);
  expect((await h.store.row(child as never))?.phase).toBe('paused');
  await h.done(h.api.resume(id));
  await h.pass(1_000);
  expect((await h.store.row(child as never))?.phase).toBe('working');
  held.open();
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['heard']);
});

it('B187 a turn that is interrupted leaves children at work, and they report; a stop ends them', async () => {
  const gates = [gate(), gate()] as const;
  let reached = 0;
  const hang = tool('hang', { kind: 'read' }, () => (gates[reached++] ?? gates[0]).pass(DONE));
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const got = results(request);
      if (order(request) !== 'parent') return got.length === 0 ? calls(['hang', {}]) : say('worked');
      const said = instructions(request).at(-1);
      if (said === 'parent' && got.length === 0) return calls(['delegate', { task: 'kept' }]);
      if (said === 'another' && got.length === 1) return calls(['delegate', { task: 'ended' }]);
      return say(`heard ${said}`);
    },
  });
  const phaseOf = async (of = '') => (await h.store.row(of as never))?.phase;
  const id = await h.start('parent');
  await h.until(() => reached === 1, 'the child works');
  const [kept = ''] = await childrenOf(h, id);
  await h.done(h.api.interrupt(id));
  await h.tell(id, 'and you?');
  expect(await responses(h, id)).toEqual(['heard and you?']);
  expect(await phaseOf(kept)).toBe('working');
  gates[0].open();
  await h.pass(10_000);
  expect(await responses(h, kept)).toEqual(['worked']);
  // It comes like a message, and is heard once.
  expect((await events(h, id, 'child.reported')).filter(({ result }) => result !== null)).toHaveLength(1);
  expect(await responses(h, id)).toHaveLength(2);

  await h.done(h.api.send(id, 'another'));
  await h.until(() => reached === 2, 'another child works');
  const [, ended = ''] = await childrenOf(h, id);
  await h.done(h.api.interrupt(id));
  await h.pass(1_000);
  expect(await phaseOf(ended)).toBe('working');
  await h.done(h.api.stop(id));
  await h.pass(10_000);
  expect(await phaseOf(ended)).toBe('stopped');
  gates[1].open();
  await h.pass(10_000);
  expect(await responses(h, ended)).toEqual([]);
});

it('a child that somebody opens again tells of its later turn as a new result, and the next stop reaches it', async () => {
  const h = given({
    tools: DELEGATION,
    model: (request) => {
      const got = results(request);
      if (order(request) === 'child') return say(`turn ${instructions(request).length}`);
      return got.length === 0 ? calls(['delegate', { task: 'child' }]) : say('heard');
    },
  });
  const id = await h.start('parent');
  await h.rest(id);
  const [child = ''] = await childrenOf(h, id);
  await h.done(h.api.stop(id));
  await h.pass(10_000);
  await h.done(h.api.reopen(id));
  await h.done(h.api.reopen(child));
  await h.tell(child, 'more');
  await h.pass(10_000);
  const told = (await events(h, id, 'child.reported')).flatMap(({ result }) => (result ? [result] : []));
  expect(told.map(({ turn, end, text }) => [turn, end, text])).toEqual([
    [1, 'surfaced', 'turn 1'],
    [1, 'stopped', 'It was stopped.'],
    [2, 'surfaced', 'turn 2'],
  ]);
  expect(await responses(h, id)).toEqual(['heard', 'heard']);
  await h.done(h.api.stop(id));
  await h.pass(10_000);
  expect((await h.store.row(child as never))?.phase).toBe('stopped');
});

it('a fork of a parent leaves its children with the original', async () => {
  const { held, hang } = hanging();
  const h = given({
    tools: [...DELEGATION, hang],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const got = results(request);
      if (order(request) === 'child') return got.length === 0 ? calls(['hang', {}]) : say('worked');
      return got.length === 0 ? calls(['delegate', { task: 'child' }]) : say(got[0]?.text ?? '');
    },
  });
  const id = await h.start('parent');
  await h.until(() => held.reached === 1, 'the child works');
  const { session: fork } = await h.done(h.api.fork(id, { message: 'and you?' }));
  await h.rest(fork);
  expect((await responses(h, fork))[0]).toMatch(/stays with the original of this fork/);
  expect(await childrenOf(h, fork)).toEqual([]);
  await h.done(h.api.stop(fork));
  held.open();
  await h.rest(id);
  expect((await responses(h, id))[0]).toMatch(/> worked/);
});
