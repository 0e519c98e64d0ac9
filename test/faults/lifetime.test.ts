/** Lifetime: waiting costs nothing, one call reaches a session in every state, and no timer is lost. */

import { expect, it } from 'vitest';
import { calls, gate, say, tool } from '../../src/testing/harness.ts';
import { DELEGATION } from '../../src/tools/delegate/delegate.ts';
import { events, given, instructions, notes, responses, results, sandbox } from './kit.ts';

const DAY = 86_400_000;

it('B051 a session that waits holds nothing: no lease, no drive, no call', async () => {
  const h = given({
    limits: { effectTimeoutMs: 1_000 },
    model: (request) =>
      instructions(request)[0]?.startsWith('post') ? calls(['post', { what: 'it' }]) : say('done'),
  });
  h.world.loseAnswers.set('post', 5);
  const ids = [];
  for (let n = 0; n < 20; n++) ids.push(await h.start(n < 5 ? `post ${n}` : `say ${n}`));
  for (const id of ids) await h.rest(id);
  await h.pass(15 * 60_000);

  for (const id of ids) {
    const row = await h.store.row(id);
    expect(row?.phase).toBe(ids.indexOf(id) < 5 ? 'awaiting_decision' : 'awaiting_input');
    expect(row?.dueAt).toBeNull();
    // The lease was given back: anybody gets it, and finds it given back cleanly.
    expect(await h.store.acquire(id, 'probe', 1)).toMatchObject({ status: 'acquired', clean: true });
  }
  const next = await h.start('one more');
  await h.rest(next);
  expect(await responses(h, next)).toEqual(['done']);
});

it('B051 with all slots taken by sessions that surfaced and wait, the next one works at once', async () => {
  const h = given({ slots: 3, model: () => say('done') });
  for (let n = 0; n < 3; n++) await h.rest(await h.start(`work ${n}`));
  const fourth = await h.start('one more');
  await h.rest(fourth);
  expect(await events(h, fourth, 'session.queued')).toEqual([]);
  expect(await h.done(h.api.slots())).toEqual({ slots: 3, isOwn: false, working: 0, waiting: 0 });
});

it('B069 the same send works in every state', async () => {
  const held = gate();
  const hang = tool('hang', { kind: 'read' }, () => held.pass({ status: 'done', result: 1 }));
  const h = given({
    tools: [hang],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      const said = instructions(request).length;
      if (said === 3 && results(request).length === 0) return calls(['hang', {}]);
      return say(`heard ${said}`);
    },
  });
  const id = await h.start('1', { persist: false });
  expect(await h.rest(id)).toBe('completed');
  const rules = [(await h.done(h.api.send(id, '2'))).rule];
  await h.rest(id);
  await h.pass(15 * 60_000);
  h.clock.elapse(86_400_000); // and nobody comes for a day
  rules.push((await h.done(h.api.send(id, '3'))).rule);
  await h.until(() => held.reached === 1, 'a step in the middle');
  rules.push((await h.done(h.api.send(id, '4'))).rule);
  held.open();
  await h.rest(id);
  await h.done(h.api.pause(id));
  rules.push((await h.done(h.api.send(id, '5'))).rule);
  await h.done(h.api.resume(id));
  await h.rest(id);
  await h.done(h.api.stop(id));
  await expect(h.done(h.api.send(id, '6'))).rejects.toMatchObject({
    code: 'session.stopped',
    next: expect.stringMatching(/reopen/),
  });
  await h.done(h.api.reopen(id));
  rules.push((await h.done(h.api.send(id, '7'))).rule);
  await h.rest(id);

  expect(rules).toEqual([
    'reopens, starts turn 2',
    'reopens, starts turn 3',
    'joins turn 3 at its next step, or starts turn 4 if this step is its last',
    'waits until the session is resumed, then starts turn 4',
    expect.stringMatching(/starts turn 5/),
  ]);
  expect(instructions(h.requests.at(-1))).toEqual(['1', '2', '3', '4', '5', '7']);
  expect((await responses(h, id)).at(-1)).toBe('heard 6');
});

it('B095 a timer fires although messages and other timers came before it', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const said = instructions(request);
      const source = `const fired = []; for (const m of [30, 10, 20]) {
        setTimeout(() => { fired.push(m); console.log('fired', m); }, m * 60_000); } 'armed'`;
      if (said.length === 1)
        return results(request).length === 0 ? calls(['code', { source }]) : say('armed');
      return said.at(-1) === 'list' && results(request).length === 1
        ? calls(['code', { source: 'fired.join()' }])
        : say(results(request).at(-1)?.text ?? '');
    },
  });
  const id = await h.start('arm');
  await h.rest(id);
  await h.pass(5 * 60_000);
  await h.tell(id, 'a message before the first');
  await h.pass(10 * 60_000);
  await h.tell(id, 'a message before the second');
  h.restart();
  await h.pass(20 * 60_000);
  await h.tell(id, 'list');

  expect((await responses(h, id)).at(-1)).toBe('"10,20,30"');
  expect(await events(h, id, 'timer.fired')).toHaveLength(3);
  expect(notes(h.requests.at(-1)).filter((note) => /fired/.test(note))).toHaveLength(3);
});

it('B095 a timer fires although the end of a child and a message came before it', async () => {
  const h = given({
    sandbox,
    tools: DELEGATION,
    model: (request) => {
      const said = instructions(request);
      const got = results(request);
      if (said[0] === 'child') return got.length === 0 ? calls(['sleep', { seconds: 600 }]) : say('slept');
      const source = "setTimeout(() => console.log('fired'), 30 * 60_000); 'armed'";
      if (got.length === 0) return calls(['code', { source }], ['delegate', { task: 'child', wait: false }]);
      return say(said.at(-1) ?? '');
    },
  });
  const id = await h.start('arm');
  await h.rest(id);
  const [set] = await events(h, id, 'timer.set');
  await h.pass(12 * 60_000);
  expect((await events(h, id, 'child.reported')).some(({ result }) => result?.text === 'slept')).toBe(true);
  await h.tell(id, 'a message');
  expect(await events(h, id, 'timer.fired')).toEqual([]);
  expect((await h.store.row(id))?.dueAt).toBeLessThanOrEqual(set?.due ?? 0);
  await h.pass(20 * 60_000);

  const fired = await events(h, id, 'timer.fired');
  expect(fired).toHaveLength(1);
  expect((fired[0]?.at ?? 0) - (set?.due ?? 0)).toBeLessThan(60_000);
  await h.tell(id, 'and?');
  expect(notes(h.requests.at(-1)).filter((note) => /fired/.test(note))).toHaveLength(1);
});

it('B096 a session is found by its id from anywhere, with the question that waits', async () => {
  const h = given({
    limits: { effectTimeoutMs: 1_000 },
    model: () => calls(['post', { what: 'it' }]),
  });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('post it');
  await h.rest(id);
  h.restart();
  const elsewhere = h.join();

  expect(await h.done(elsewhere.api.inspect(id))).toMatchObject({
    id,
    phase: 'awaiting_decision',
    decisions: [{ id: 'd1', effect: 'e1', options: ['done', 'not-done', 'reject'] }],
  });
  expect(await h.done(elsewhere.api.list())).toMatchObject([{ id, openDecisions: 1, unknownEffects: 1 }]);
});

it('B130 a timer that was due while nobody was there fires once, late', async () => {
  const h = given({
    sandbox,
    model: (request) =>
      results(request).length === 0
        ? calls(['code', { source: "await new Promise((r) => setTimeout(r, 3_600_000)); 'woke'" }])
        : say('woke'),
  });
  const id = await h.start('sleep for an hour');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  h.end();
  h.clock.elapse(24 * 3_600_000);
  expect(await events(h, id, 'timer.fired')).toEqual([]);
  h.restart();
  await h.rest(id);

  expect(await responses(h, id)).toEqual(['woke']);
  expect(await events(h, id, 'timer.fired')).toHaveLength(1);
  await h.pass(3_600_000);
  expect(await events(h, id, 'timer.fired')).toHaveLength(1);
});

it('B130 a timer fires although more sessions work than one look of the sweeper takes', async () => {
  const held = gate();
  const h = given({
    sandbox,
    leaseMs: 3_600_000,
    model: (request) => {
      if (instructions(request)[0] !== 'sleep') return held.pass(say('done'));
      return results(request).length === 0
        ? calls(['code', { source: "await new Promise((r) => setTimeout(r, 120_000)); 'woke'" }])
        : say('woke');
    },
  });
  const id = await h.start('sleep');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  for (let n = 0; n < 101; n++) await h.start(`work ${n}`);
  await h.until(() => held.reached === 101, 'everybody at work');
  await h.pass(150_000);

  expect(await responses(h, id)).toEqual(['woke']);
});

it('B037 a cell that sleeps for long goes on although its heap was closed meanwhile', async () => {
  const h = given({
    sandbox,
    model: (request) =>
      results(request).length === 0
        ? calls([
            'code',
            { source: 'const t = [1]; await new Promise((r) => setTimeout(r, 2_400_000)); t.push(2); t' },
          ])
        : say(results(request)[0]?.text ?? ''),
  });
  const id = await h.start('sleep for long');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.pass(60_000);
  expect((await h.done(h.api.inspect(id))).phase).toBe('sleeping');
  await h.rest(id);

  expect(await responses(h, id)).toEqual(['[ 1, 2 ]']);
  expect((await events(h, id, 'heap.restored')).map(({ rung }) => rung)).toEqual(['fresh', 'exact']);
});

it('B178 a session that was parked for idleness is shown as waiting, not as failed, and wakes with all it had', async () => {
  const source = (said: string) =>
    said === 'load' ? 'const rows = new Map([[1, () => 41]]); rows.size' : 'rows.get(1)() + 1';
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      const said = instructions(request);
      return got.length < said.length
        ? calls(['code', { source: source(said.at(-1) ?? '') }])
        : say(got.at(-1)?.text ?? '');
    },
  });
  const id = await h.start('load');
  await h.rest(id);
  expect(await h.done(h.api.list())).toMatchObject([{ id, phase: 'awaiting_input', residency: 'resident' }]);
  const { updatedAt } = await h.done(h.api.inspect(id));
  await h.pass(3_600_000);

  expect(await events(h, id, 'session.parked')).toEqual([expect.objectContaining({ since: updatedAt })]);
  const parked = { id, phase: 'awaiting_input', residency: 'parked', updatedAt, lastResponse: '1' };
  expect(await h.done(h.api.list())).toMatchObject([{ ...parked, dueAt: updatedAt + 7 * DAY }]);
  expect(await h.done(h.api.inspect(id))).toMatchObject({
    phase: 'awaiting_input',
    residency: 'parked',
    reason: null,
  });
  h.restart();
  await h.tell(id, 'use');
  expect((await responses(h, id)).at(-1)).toBe('42');
  expect((await events(h, id, 'heap.restored')).map(({ rung }) => rung)).toEqual(['fresh', 'exact']);
});

it('B119 a cell that waits for a person holds no memory meanwhile, however long it takes', async () => {
  const h = given({
    sandbox,
    limits: { effectTimeoutMs: 1_000 },
    model: (request) =>
      results(request).length === 0
        ? calls(['code', { source: "const box = { n: 1 }; await tools.post({ what: 'it' }); box.n + 1" }])
        : say(results(request)[0]?.text ?? ''),
  });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('post it');
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.pass(10_000);
  h.clock.elapse(3 * 86_400_000);
  expect(await events(h, id, 'session.parked')).toHaveLength(1);
  expect(await h.done(h.api.inspect(id))).toMatchObject({ phase: 'awaiting_decision', residency: 'parked' });
  await h.done(h.api.decide(id, 'd1', 'done'));
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['2']);
});

it('B178 what its worker could not park before it died is parked by the next one, and nothing is opened for it', async () => {
  const h = given({
    sandbox,
    model: (request) => (results(request).length ? say('set') : calls(['code', { source: 'let x = 1' }])),
  });
  const id = await h.start('set x');
  await h.rest(id);
  h.end();
  h.clock.elapse(3_600_000);
  h.restart();
  await h.until(async () => (await events(h, id, 'session.parked')).length === 1, 'a parked session');
  expect((await events(h, id, 'heap.restored')).map(({ rung }) => rung)).toEqual(['fresh']);
  expect((await h.done(h.api.inspect(id))).reason).toBeNull();
});

const heapOf = (source: (said: string) => string) => ({
  sandbox,
  model: (request: Parameters<typeof instructions>[0] & object) => {
    const [said, got] = [instructions(request), results(request)];
    return got.length < said.length
      ? calls(['code', { source: source(said.at(-1) ?? '') }])
      : say(got.at(-1)?.text ?? '');
  },
});

const counting = heapOf((said) => (said === 'load' ? 'let n = 1; n' : 'n = n + 1; n'));
it('B019 a session that nobody came back to is archived, with one image, and wakes with all it had', async () => {
  const h = given(counting);
  const id = await h.start('load');
  await h.rest(id);
  for (const _ of [1, 2, 3]) await h.tell(id, 'add');
  await h.pass(3_600_000);
  expect(await h.done(h.api.inspect(id))).toMatchObject({ residency: 'parked' });
  h.clock.elapse(8 * DAY);
  await h.until(async () => (await events(h, id, 'session.archived')).length === 1, 'an archived session');
  const [row] = await h.done(h.api.list());
  expect(row).toMatchObject({ phase: 'awaiting_input', residency: 'archived', dueAt: null });
  const { heap } = await h.state(id);
  expect(heap.chain?.deltas).toEqual([]);
  // What led there is gone from the disk; its last image is there.
  const older = (await events(h, id, 'cell.committed')).map(({ image }) => image.blob);
  for (const ref of older.filter((blob) => blob !== heap.chain?.base.blob))
    await expect(h.store.blob(id, ref)).rejects.toMatchObject({ code: 'blob.missing' });

  h.restart();
  const receipt = await h.done(h.api.send(id, 'add', { key: 'k' }));
  expect(receipt).toMatchObject({ rule: 'starts turn 5', woke: 'archived' });
  await h.rest(id);
  expect((await responses(h, id)).at(-1)).toBe('5');
  expect((await events(h, id, 'heap.restored')).at(-1)).toMatchObject({ rung: 'exact' });
  expect((await h.done(h.api.inspect(id))).woke).toMatchObject({ from: 'archived', ms: expect.any(Number) });
  expect(await h.done(h.api.send(id, 'add', { key: 'k' }))).toEqual(receipt);
  expect(await h.done(h.api.verify(id))).toMatchObject({ identical: true, image: 'intact' });
});

it('B019 a fork at an event from before the archive builds its heap again from the journal', async () => {
  const h = given(counting);
  const id = await h.start('load');
  await h.rest(id);
  const [first] = await events(h, id, 'response.surfaced');
  await h.tell(id, 'add');
  h.clock.elapse(8 * DAY);
  await h.until(async () => (await events(h, id, 'session.archived')).length === 1, 'an archived session');
  const { session } = await h.done(h.api.fork(id, { at: first?.seq ?? 0, message: 'add' }));
  await h.rest(session);
  expect((await responses(h, session)).at(-1)).toBe('2');
});

it('B019 a one-shot is parked earlier than a task that is kept open, and both wake from there', async () => {
  const h = given(counting);
  const kept = await h.start('load');
  const once = await h.start('load', { persist: false });
  await h.rest(kept);
  await h.rest(once);
  await h.pass(5 * 60_000);
  const at = async (id: string) => (await h.done(h.api.inspect(id))).residency;
  expect([await at(kept), await at(once)]).toEqual(['resident', 'parked']);
  expect(await h.done(h.api.send(kept, 'add'))).toMatchObject({ woke: 'resident' });
  expect(await h.done(h.api.send(once, 'add'))).toMatchObject({
    ...{ rule: 'reopens, starts turn 2', woke: 'parked' },
  });
  for (const id of [kept, once]) {
    await h.rest(id);
    expect((await responses(h, id)).at(-1)).toBe('2');
  }
});

it('B037 a cell that sleeps for weeks is parked and archived with its promise, and goes on from that line', async () => {
  const h = given(
    heapOf((said) =>
      said === 'load'
        ? 'const t = [1]; t'
        : `t.push(2); await new Promise((r) => setTimeout(r, ${20 * DAY})); t.push(3); t`,
    ),
  );
  const id = await h.start('load');
  await h.rest(id);
  await h.done(h.api.send(id, 'sleep'));
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.until(async () => (await events(h, id, 'session.parked')).length === 1, 'a parked session');
  h.clock.elapse(8 * DAY);
  await h.until(async () => (await events(h, id, 'session.archived')).length === 1, 'an archived session');
  expect(await h.done(h.api.inspect(id))).toMatchObject({ phase: 'sleeping', residency: 'archived' });
  h.clock.elapse(12 * DAY);
  await h.rest(id);

  expect((await responses(h, id)).at(-1)).toBe('[ 1, 2, 3 ]');
  expect((await events(h, id, 'heap.restored')).at(-1)).toMatchObject({ rung: 'exact' });
  expect(await events(h, id, 'timer.fired')).toHaveLength(1);
});

it('B037 a session is not parked for days while somebody looks on, and is once they have gone', async () => {
  const h = given(counting);
  const id = await h.start('load');
  await h.rest(id);
  const leaving = new AbortController();
  const seen = h.api.follow(id, { after: 0, signal: leaving.signal });
  await h.done(seen.next());
  for (let hours = 0; hours < 48; hours += 6) await h.pass(6 * 3_600_000);
  expect(await events(h, id, 'session.parked')).toEqual([]);
  await h.tell(id, 'add');
  expect((await events(h, id, 'heap.restored')).at(-1)).toMatchObject({ rung: 'attached' });
  leaving.abort();
  await h.done(seen.return());
  await h.until(async () => (await events(h, id, 'session.parked')).length === 1, 'a parked session');
});
