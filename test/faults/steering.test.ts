/** Steering races: whatever comes in at whatever moment is read once, in order, and nobody has to ask twice. */

import { expect, it } from 'vitest';
import type { AbortReason } from '../../src/core/heap/event.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';
import { calls, gate, read, say, tool } from '../../src/testing/harness.ts';
import { books, events, given, instructions, notes, responses, results, sandbox } from './kit.ts';

it('B003 a send whose reply was lost is one turn, and its repeat gets the first receipt', async () => {
  const h = given({ model: () => say('once') });
  const id = await h.start('start');
  await h.rest(id);
  let lost = 0;
  h.faulty.commit = async (commit) => {
    const result = await h.store.commit(commit);
    if (commit.epoch !== null || lost++ > 0) return result;
    throw new Error('the reply was lost');
  };
  await expect(h.done(h.api.send(id, 'pay', { key: 'k' }))).rejects.toThrow('the reply was lost');
  const receipt = await h.done(h.api.send(id, 'pay', { key: 'k' }));
  await h.rest(id);
  h.restart();
  expect(await h.done(h.api.send(id, 'pay', { key: 'k' }))).toEqual(receipt);
  await expect(h.done(h.api.send(id, 'pay more', { key: 'k' }))).rejects.toMatchObject({
    code: 'key.conflict',
  });
  await h.rest(id);

  const accepted = await events(h, id, 'message.accepted');
  expect(accepted.map(({ text }) => text)).toEqual(['start', 'pay']);
  expect(receipt).toMatchObject({ message: accepted[1]?.message, seq: accepted[1]?.seq });
  expect(h.requests).toHaveLength(2);
});

it('B003 a key may be any word', async () => {
  const h = given({ model: () => say('ok') });
  const id = await h.start('start');
  for (const key of ['constructor', '__proto__', 'toString']) {
    const receipt = await h.done(h.api.send(id, `by ${key}`, { key }));
    expect(await h.done(h.api.send(id, `by ${key}`, { key }))).toEqual(receipt);
  }
  await h.rest(id);
  expect(instructions(h.requests.at(-1))).toHaveLength(4);
});

it('B023 a message at any await of the last step is in the next request once', async () => {
  const run = async (at: number | null) => {
    const begin = gate();
    const h = given({
      model: async (request) => {
        await begin.pass();
        const said = instructions(request);
        return said.length === 1 && read(request).results.length === 0
          ? calls(['look', { what: 'x' }])
          : say(`read ${said.length}`);
      },
    });
    const session = await h.start('look');
    let awaits = 0;
    let sent: Promise<unknown> | null = null;
    const once = () => {
      if (++awaits === at) sent = h.api.send(session, 'one more thing', { key: 'k' });
    };
    h.faulty.commit = async (commit) => {
      if (commit.epoch !== null) once();
      const result = await h.store.commit(commit);
      if (commit.epoch !== null) once();
      return result;
    };
    h.faulty.release = async (...args) => {
      once();
      const next = await h.store.release(...args);
      once();
      return next;
    };
    begin.open();
    await h.rest(session);
    if (sent) await h.done(sent);
    await h.rest(session);
    return { h, session, awaits };
  };
  const { awaits } = await run(null);
  // A reply with a call, its result and the next step, the answer, and the letting go: two sides each.
  expect(awaits).toBe(8);
  for (let at = 1; at <= awaits; at++) {
    const { h, session } = await run(at);
    const told = h.requests.map(instructions).filter((said) => said.includes('one more thing'));
    expect(told.at(-1), `at ${at}`).toEqual(['look', 'one more thing']);
    expect((await responses(h, session)).at(-1), `at ${at}`).toBe('read 2');
    expect(await events(h, session, 'message.read'), `at ${at}`).toHaveLength(2);
  }
});

it('B024 a stop ends the cell that loops and the request in flight, and nothing follows', async () => {
  const ended: string[] = [];
  const http = tool('http', { kind: 'blind' }, (_args, { signal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        ended.push('request');
        reject(new Error('torn'));
      });
    });
  });
  const h = given({
    sandbox: looping(() => ended.push('cell')),
    tools: [http],
    model: () => calls(['code', { source: 'for (;;);' }], ['http', {}], ['post', { what: 'first' }]),
  });
  const id = await h.start('loop');
  await h.until(() => h.world.books.length === 1, 'everything in flight');
  const stopped = await h.done(h.api.stop(id));
  const head = (await h.log(id)).length;
  await h.pass(3_600_000);

  expect(stopped).toEqual({ status: 'stopped', unknown: ['e1'], children: [] });
  expect(ended.sort()).toEqual(['cell', 'request']);
  expect(h.requests).toHaveLength(1);
  expect(await h.log(id)).toHaveLength(head);
  const { transcript } = await h.state(id);
  expect(transcript.find((item) => item.kind === 'reply')).toMatchObject({
    results: [{ status: 'interrupted' }, { status: 'interrupted' }, { status: 'interrupted' }],
  });
});

it('B024 a cell that appends line after line appends none after the stop', async () => {
  const lines: unknown[] = [];
  const append = tool('append', { kind: 'blind' }, async (args) => {
    lines.push(args);
    return { status: 'done', result: null };
  });
  const h = given({
    sandbox,
    tools: [append],
    model: () =>
      calls([
        'code',
        {
          source:
            'for (let n = 0; ; n++) { await tools.append({ n }); await new Promise((r) => setTimeout(r, 100)); }',
        },
      ]),
  });
  const id = await h.start('append');
  await h.until(() => lines.length === 5, 'some lines');
  expect((await h.done(h.api.stop(id))).status).toBe('stopped');
  await h.pass(60_000);

  expect(lines).toHaveLength(5);
  expect(h.requests).toHaveLength(1);
});

it('B042 two sends to two workers at once are two turns or one, never two at a time', async () => {
  const h = given({
    model: async (request) => {
      await h.clock.sleep(200);
      return say(`answer to ${instructions(request).length}`);
    },
  });
  const id = await h.start('begin');
  await h.rest(id);
  const [a, b] = [h.worker, h.join()];
  const receipts = await h.done(Promise.all([a.api.send(id, 'from a'), b.api.send(id, 'from b')]));
  await h.rest(id);

  const order = [...receipts]
    .sort((x, y) => x.seq - y.seq)
    .map((r) => (r === receipts[0] ? 'from a' : 'from b'));
  expect(instructions(h.requests.at(-1))).toEqual(['begin', ...order]);
  for (const [index, request] of h.requests.entries()) {
    // Request k + 1 begins with all of request k, but for its tail, the present.
    const before = h.requests[index - 1]?.messages.slice(0, -1) ?? [];
    expect(request.messages.slice(0, before.length)).toEqual(before);
  }
});

it('B142 a message that comes while the answer is written starts the next turn by itself', async () => {
  const held = gate();
  const h = given({
    model: [
      async (_request, { onText }) => {
        onText?.('Here ');
        await held.pass();
        return say('Here it is');
      },
      say('and the rest'),
    ],
  });
  const id = await h.start('answer');
  await h.until(() => held.reached === 1, 'an answer that is written');
  const receipt = await h.done(h.api.send(id, 'and the rest?'));
  held.open();
  await h.until(() => h.requests.length === 2, 'a second turn');
  await h.rest(id);

  expect(receipt.rule).toMatch(/or starts turn 2 if this step is its last/);
  expect(instructions(h.requests[1])).toEqual(['answer', 'and the rest?']);
  expect((await events(h, id, 'response.surfaced')).map(({ turn, answers }) => [turn, answers])).toEqual([
    [1, ['m1']],
    [2, ['m2']],
  ]);
});

it('B143 a message that waits is read next when the turn runs into its limit', async () => {
  const h = given({
    limits: { stepsPerTurn: 3 },
    model: (request) =>
      instructions(request).includes('and B') ? say('B is done') : calls(['look', { what: 'A' }]),
  });
  const id = await h.start('A, without end');
  const receipt = await h.done(h.api.send(id, 'and B', { when: 'later' }));
  await h.rest(id);

  expect(receipt.rule).toBe('starts turn 2 after the response');
  expect(await events(h, id, 'turn.failed')).toMatchObject([{ turn: 1, code: 'limit.steps' }]);
  expect(await responses(h, id)).toEqual(['B is done']);
});

it('B145 a message at the end of a turn is read once, whoever looks', async () => {
  const held = gate();
  const h = given({ model: [() => held.pass(say('one')), say('two'), say('three')] });
  const id = await h.start('go');
  await h.until(() => held.reached === 1, 'an answer that is written');
  const other = h.join();
  const followed: string[] = [];
  const follow = async () => {
    for await (const event of other.api.follow(id)) {
      if (event.kind === 'message.read') followed.push(...event.messages);
    }
  };
  void follow();
  await h.done(other.api.send(id, 'and this', { key: 'k' }));
  held.open();
  await h.rest(id);
  await h.done(other.api.send(id, 'and this', { key: 'k' }));
  await h.done(other.api.rest(id));
  await h.pass(60_000);

  expect(followed).toEqual(['m1', 'm2']);
  expect(h.requests).toHaveLength(2);
  expect(instructions(h.requests[1])).toEqual(['go', 'and this']);
});

it('B150 a burst of messages: each has a receipt, and they are read in order', async () => {
  const h = given({
    model: async (request) => {
      await h.clock.sleep(100);
      return say(`${instructions(request).length}`);
    },
  });
  const id = await h.start('0');
  const receipts = [];
  for (const text of ['1', '2', '3', '4', '5']) {
    receipts.push(h.api.send(id, text));
    await h.pass(10);
  }
  const all = await Promise.all(receipts);
  await h.rest(id);

  expect(all.map(({ message }) => message)).toEqual(['m2', 'm3', 'm4', 'm5', 'm6']);
  expect(instructions(h.requests.at(-1))).toEqual(['0', '1', '2', '3', '4', '5']);
  const answered = (await events(h, id, 'response.surfaced')).flatMap(({ answers }) => answers);
  expect(answered).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6']);
});

it('B061 a message `now` is answered although a decision is open', async () => {
  const h = given({
    model: (request) =>
      instructions(request).length > 1 ? say('it waits for you') : calls(['post', { what: 'a' }]),
    limits: { effectTimeoutMs: 1_000 },
  });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('post it');
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.done(h.api.send(id, 'how is it going?', { when: 'now' }));
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['it waits for you']);
  expect(results(h.requests[1]).map(({ status }) => status)).toEqual(['suspended']);
  expect(books(h)).toEqual(['post: a']);
});

it('B061 a call that is held behind an unknown one keeps no message `now` from the model', async () => {
  const h = given({
    model: (request) => {
      const said = instructions(request).length;
      if (said === 1) return calls(['post', { what: 'a' }]);
      return said === 2 && !notes(request).length && results(request).length === 1
        ? calls(['post', { what: 'b' }])
        : say('I wait');
    },
    limits: { effectTimeoutMs: 1_000 },
  });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('post a');
  await h.rest(id);
  await h.done(h.api.send(id, 'post b too', { when: 'now' }));
  expect(await h.rest(id)).toBe('awaiting_decision');
  const receipt = await h.done(h.api.send(id, 'what is going on?', { when: 'now' }));
  await h.rest(id);

  expect(receipt.rule).toMatch(/at once, with decision d1 still open/);
  expect(await responses(h, id)).toEqual(['I wait']);
  expect(results(h.requests.at(-1)).map(({ status }) => status)).toEqual(['suspended', 'suspended']);
  expect(results(h.requests.at(-1))[1]?.text).toMatch(/not sent/);
  expect(books(h)).toEqual(['post: a']);
  await h.done(h.api.decide(id, 'd1', 'done'));
  await h.until(() => h.world.books.length === 2, 'the second post');
  expect(books(h)).toEqual(['post: a', 'post: b']);
});

it('B061 a call that waited for a decision and is withdrawn by an interrupt is not waited for any more', async () => {
  const held = gate();
  const h = given({
    limits: { effectTimeoutMs: 1_000 },
    model: (request, { n }) => {
      if (n === 1) return calls(['post', { what: 'a' }]);
      if (n === 2) return calls(['post', { what: 'b' }]);
      return n === 3 ? held.pass(say('never')) : say(`told ${instructions(request).length}`);
    },
  });
  h.world.loseAnswers.set('post', 1);
  const id = await h.start('post a');
  await h.rest(id);
  for (const text of ['post b too', 'and?']) {
    await h.done(h.api.send(id, text, { when: 'now' }));
    await h.until(() => instructions(h.requests.at(-1)).includes(text), 'a turn');
  }
  await h.done(h.api.interrupt(id));
  await h.done(h.api.send(id, 'what waits?', { when: 'now' }));
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer');

  expect(notes(h.requests.at(-1)).join()).toMatch(/Effect e2 \(post service\) waits no more\. Not sent/);
  await h.done(h.api.decide(id, 'd1', 'done'));
  await h.pass(60_000);
  expect(books(h)).toEqual(['post: a']);
});

/** A sandbox whose cells run until they are told to end. */
function looping(ended: () => void): Sandbox {
  const image = { form: 'base', engine: 'loop', digest: 'd', data: new Uint8Array() } as const;
  const heap = {
    apply: (_input: unknown, signal: AbortSignal) =>
      new Promise<{ kind: 'aborted'; reason: AbortReason; message: string; output: string }>((resolve) => {
        signal.addEventListener('abort', () => {
          ended();
          resolve({ kind: 'aborted', reason: 'interrupted', message: '', output: '' });
        });
      }),
    base: async () => image,
    close: async () => {},
  };
  return {
    engine: 'loop',
    prepare: (code) => ({ ok: true, code }),
    create: async () => heap,
    restore: async () => heap,
    replay: async () => ({ heap, applied: 0, diverged: null, digest: 'd' }),
    close: async () => {},
  };
}
