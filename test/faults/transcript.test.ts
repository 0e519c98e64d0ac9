/** Transcript integrity: whatever breaks, the next request is one that a provider takes, and it is true. */

import { expect, it } from 'vitest';
import { resultOf } from '../../src/core/effect.ts';
import type { Event } from '../../src/core/event.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import { languageModel } from '../../src/models/ai-sdk/language-model.ts';
import { toCall } from '../../src/models/ai-sdk/prompt.ts';
import type { ModelReply } from '../../src/models/port.ts';
import { textOf } from '../../src/projections/recall/passages.ts';
import { calls, gate, type Harness, read, say, tool } from '../../src/testing/harness.ts';
import {
  events,
  given,
  heldBytes,
  instructions,
  notes,
  present,
  responses,
  results,
  sandbox,
} from './kit.ts';
import { streaming } from './streams.ts';

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

it('B004 a reply that was cut before it said anything leaves nothing behind', async () => {
  const held = gate();
  const h = given({
    model: [
      () => held.pass(say('never')), // interrupted before its first token
      { parts: [{ type: 'reasoning', text: 'hm', meta: { p: { sig: 'x' } } }], finish: 'stop', usage: USAGE },
      { parts: [{ type: 'text', text: '  \n' }], finish: 'stop', usage: USAGE },
      { parts: [], finish: 'stop', usage: USAGE },
      say('here I am'),
    ],
  });
  const id = await h.start('one');
  await h.until(() => held.reached === 1, 'a model that writes');
  await h.done(h.api.interrupt(id));
  for (const text of ['two', 'three', 'four', 'five']) await h.tell(id, text);

  const { transcript } = await h.state(id);
  expect(transcript.filter((item) => item.kind === 'reply' && item.parts.length === 0)).toEqual([]);
  const { prompt } = toCall(h.requests[4] as ModelRequest);
  expect(prompt.filter((message) => message.role === 'assistant')).toEqual([]);
  expect(instructions(h.requests[4])).toEqual(['one', 'two', 'three', 'four', 'five']);
  expect(await responses(h, id)).toEqual(['here I am']);
});

/** Signed reasoning, and what must stay of it byte for byte. */
const sealed = {
  type: 'reasoning',
  text: 'a thought ',
  meta: { p: { signature: 'ab==', n: [1] } },
} as const;

/** A session whose first reply has reasoned and called a tool that does not answer; then the model says these. */
async function thinking(...saying: readonly string[]): Promise<{ h: Harness; id: string }> {
  const held = gate();
  const h = given({
    tools: [tool('slow', { kind: 'read' }, () => held.pass({ status: 'done', result: 1 }))],
    model: [
      { parts: [sealed, ...calls(['slow', {}]).parts], finish: 'tool-calls', usage: USAGE },
      ...saying.map((text) => say(text)),
    ],
  });
  const id = await h.start('think');
  await h.until(() => held.reached === 1, 'a call in flight');
  return { h, id };
}

it('B020 reasoning goes back byte for byte: reloaded, and interrupted behind it', async () => {
  const { h, id } = await thinking('one', 'two');
  await h.done(h.api.interrupt(id));
  await h.tell(id, 'go on');
  h.restart();
  await h.tell(id, 'and again');

  const sent = h.requests.map((request) => request.messages.flatMap((m) => ('parts' in m ? m.parts : [])));
  expect(sent.map((parts) => parts.filter((part) => part.type === 'reasoning'))).toEqual([
    [],
    [sealed],
    [sealed],
  ]);
});

it('B020 reasoning goes back byte for byte from a fork, and from a fork of that one', async () => {
  const { h, id } = await thinking('forked', 'forked again');
  const { session: fork } = await h.done(h.api.fork(id));
  await h.tell(fork, 'go on');
  const { session: again } = await h.done(h.api.fork(fork, { message: 'and again' }));
  await h.rest(again);

  const sent = h.requests.map((request) => request.messages.flatMap((m) => ('parts' in m ? m.parts : [])));
  const thoughts = sent.map((parts) => parts.filter((part) => part.type === 'reasoning'));
  expect(thoughts).toEqual([[], [sealed], [sealed]]);
  expect((await h.log(id)).some((event) => event.kind === 'session.forked')).toBe(false);
});

it('B026 a hard kill inside a tool leaves one result per call', async () => {
  const h = given({
    model: (request) => {
      const asked = read(request);
      if (asked.instructions.length > 1) return say('and this is the follow-up');
      return asked.results.length === 0
        ? calls(['post', { what: 'c1' }], ['look', { what: 'c2' }])
        : say('both');
    },
  });
  const id = await h.start('two calls');
  await h.until(() => h.world.books.length === 1, 'a post that was taken');
  h.restart();
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.done(h.api.send(id, 'what about it?', { when: 'now' }));
  await h.rest(id);

  const last = h.requests.at(-1);
  expect(results(last).map(({ call, status }) => `${call} ${status}`)).toEqual([
    'call_1 suspended',
    'call_2 done',
  ]);
  expect(await responses(h, id)).toEqual(['and this is the follow-up']);
});

it('B027 a cut in the middle of a character loses the whole character', async () => {
  const outputChars = 100;
  for (const shift of [0, 1]) {
    const shout = tool('shout', { kind: 'read' }, async () => ({
      status: 'done',
      result: 'x'.repeat(shift) + '🦊'.repeat(1000),
    }));
    const h = given({ tools: [shout], limits: { outputChars }, model: [calls(['shout', {}]), say('loud')] });
    const id = await h.start('shout');
    await h.rest(id);
    await h.tell(id, 'again');

    const wire = JSON.stringify(h.requests.at(-1));
    expect(new TextDecoder('utf-8', { fatal: true }).decode(new TextEncoder().encode(wire))).toBe(wire);
    expect(wire).not.toMatch(/\\ud[89a-f]/i);
    expect(results(h.requests.at(-1))[0]?.text).toMatch(
      /🦊\n… \d+ characters left out; recall #\d+ from offset \d+ shows them …\n🦊/,
    );
  }
});

it('B028 an output of 50 MB is cut in the view, whole in the log, and the next turns work', {
  timeout: 120_000,
}, async () => {
  const giant = 'all of it '.repeat(5_000_000);
  expect(giant.length).toBe(50_000_000);
  const h = given({
    tools: [tool('dump', { kind: 'read' }, async () => ({ status: 'done', result: giant }))],
    model: [calls(['dump', {}]), say('that was long'), say('still here')],
  });
  const before = heldBytes();
  const id = await h.start('dump it');
  await h.rest(id);
  // The result, and the row of the store: both once, however often it is looked at.
  const after = heldBytes();
  expect(after - before).toBeLessThan(3 * giant.length);
  for (const _ of Array(10)) await h.tell(id, 'and now?');
  expect(heldBytes() - after).toBeLessThan(giant.length / 10);

  for (const request of h.requests) expect(JSON.stringify(request).length).toBeLessThan(25_000);
  expect(results(h.requests[1])[0]?.text).toContain('characters left out');
  const [settled] = await events(h, id, 'effect.settled');
  expect(settled?.outcome).toEqual({ status: 'done', result: giant });
  expect(await responses(h, id)).toEqual(['that was long', 'still here', ...Array(9).fill('done')]);
});

/** What the line in the place of a cut says: where to read on. */
const handle = (text = ''): { id: string; offset: number } => {
  const [, id = '', offset] = /left out; recall (#\d+) from offset (\d+) shows them …/.exec(text) ?? [];
  return { id, offset: Number(offset) };
};

/** From an offset on, page after page, as `recall` gives them; without what stands around each. */
const pages = async (h: Harness, id: string, from: { id: string; offset: number }): Promise<string> => {
  let read = '';
  for (;;) {
    const before = h.requests.length;
    await h.tell(id, `recall ${from.id} ${from.offset + read.length}`);
    const page = results(h.requests[before + 1]).at(-1)?.text ?? '';
    const [, text = '', more] =
      /^#.*\n([\s\S]*?)(\n… \d+ more: recall #\d+ from offset \d+ …)?$/.exec(page) ?? [];
    read += text;
    if (more === undefined) return read;
  }
};

const recalling = (request: ModelRequest, ...before: readonly ModelReply[]): ModelReply => {
  const said = instructions(request);
  const reply = before[results(request).length];
  if (reply) return reply;
  const [, id, offset] = /^recall (\S+) (\d+)$/.exec(said.at(-1) ?? '') ?? [];
  const isRead = request.messages.findLast(({ role }) => role !== 'user')?.role === 'tool';
  return id === undefined || isRead ? say('ok') : calls(['recall', { id, offset: Number(offset) }]);
};

it('B028 the line in the place of a cut is a handle, and recall reads on there to the last character', async () => {
  const giant = Array.from({ length: 9_000 }, (_, at) => `row ${at} 🦊`).join('; ');
  const h = given({
    tools: [tool('dump', { kind: 'read' }, async () => ({ status: 'done', result: giant }))],
    model: (request) => recalling(request, calls(['dump', {}])),
  });
  const id = await h.start('dump it');
  await h.rest(id);
  const cut = results(h.requests[1])[0]?.text ?? '';
  const { offset } = handle(cut);
  expect(cut.slice(0, offset)).toBe(giant.slice(0, offset));
  h.restart();
  expect(await pages(h, id, handle(cut))).toBe(giant.slice(offset));
  for (const request of h.requests) expect(results(request)[0]?.text ?? cut).toBe(cut);
});

it('B028 so is that of what a cell shows', async () => {
  const source =
    "console.log('printed '.repeat(200)); Array.from({ length: 9_000 }, (_, at) => 'row ' + at).join(' ')";
  const h = given({
    sandbox,
    limits: { outputChars: 2_000 },
    model: (request) => recalling(request, calls(['code', { source }])),
  });
  const id = await h.start('show it');
  await h.rest(id);
  const cut = results(h.requests[1])[0]?.text ?? '';
  const [committed] = await events(h, id, 'cell.committed');
  const whole = textOf(committed as Event);
  expect(whole.startsWith('printed printed')).toBe(true);
  expect(cut.length).toBeLessThan(whole.length);
  expect(await pages(h, id, handle(cut))).toBe(whole.slice(handle(cut).offset));
});

it('B028 a giant output that comes late is cut as well', async () => {
  const held = gate();
  const dump = tool('dump', { kind: 'blind' }, async () => {
    await held.pass();
    return { status: 'done', result: 'all of it '.repeat(200_000) };
  });
  const h = given({ tools: [dump], model: [calls(['dump', {}]), say('ok')] });
  const id = await h.start('dump it');
  await h.until(() => held.reached === 1, 'a call in flight');
  await h.done(h.api.interrupt(id));
  held.open();
  await h.tell(id, 'what came of it?');

  const late = notes(h.requests[1]).join();
  expect(late).toContain('is settled now: done');
  const { offset } = handle(late);
  const shown = late.slice(late.indexOf('all of it'), late.indexOf('\n… '));
  expect(shown).toBe('all of it '.repeat(200_000).slice(0, offset));
  expect(JSON.stringify(h.requests[1]).length).toBeLessThan(25_000);
});

it.each([
  ['B043 what was sent is the beginning of what is sent next, by any worker', 0],
  ['B155 a day later the beginning is still the same; the time stands at the end', 86_400_000],
])('%s', async (_title, later) => {
  const h = given({
    sandbox,
    model: (request) =>
      results(request).length < instructions(request).length
        ? calls(['code', { source: 'let x = 1' }])
        : say('ok'),
  });
  const id = await h.start('one');
  await h.rest(id);
  h.clock.elapse(later);
  await h.tell(id, 'two');
  h.restart();
  await h.tell(id, 'three');

  for (const [index, request] of h.requests.entries()) {
    const before = h.requests[index - 1] ?? request;
    const sent = JSON.stringify(before.messages.slice(0, -1)).slice(0, -1);
    expect(JSON.stringify(request.messages).startsWith(sent)).toBe(true);
    expect([request.system, request.tools]).toEqual([before.system, before.tools]);
    expect(JSON.stringify([request.system, request.tools, request.messages.slice(0, -1)])).not.toMatch(
      /2026-/,
    );
    expect(present(request)).toMatch(/^\[outlast\] The present\ntime: 2026-/);
  }
});

it('B105 the model is told which call was interrupted and that its outcome is unknown', async () => {
  const h = given({
    model: (request) =>
      read(request).instructions.length > 1 ? say('something else') : calls(['mail', { what: 'Ada' }]),
  });
  const id = await h.start('mail Ada');
  await h.until(() => h.world.books.length === 1, 'mail that was taken');
  await h.done(h.api.interrupt(id));
  await h.done(h.api.send(id, 'do something else'));
  await h.until(() => h.requests.length === 2, 'the next request');

  const [result] = results(h.requests[1]);
  expect(result).toMatchObject({ call: 'call_1', tool: 'mail', status: 'interrupted' });
  expect(result?.text).toMatch(/e1 \(mail service\) outcome unknown so far/);
  expect(notes(h.requests[1]).join()).toMatch(/A person interrupted the work here/);
  await h.rest(id);
  expect(h.world.books).toHaveLength(1);
});

it('B105 what an interrupted cell had done, and what it had sent, is told with it', async () => {
  const held = gate();
  const slow = tool('slow', { kind: 'blind' }, () => held.pass({ status: 'done', result: 1 }));
  const h = given({
    sandbox,
    tools: [slow],
    model: (request) =>
      read(request).instructions.length > 1
        ? say('ok')
        : calls(['code', { source: "await tools.pay({ what: 'rent' }); await tools.slow({})" }]),
  });
  const id = await h.start('pay, then wait');
  await h.until(() => held.reached === 1, 'a cell that waits');
  await h.done(h.api.interrupt(id));
  await h.done(h.api.send(id, 'what happened?'));
  await h.until(() => h.requests.length === 2, 'the next request');
  expect(results(h.requests[1])[0]?.text).toBe(
    'Interrupted while it ran. ' +
      'What it did outside stands: e1 (pay service) done; e2 (slow service) outcome unknown so far.',
  );
  held.open();
  await h.tell(id, 'and now?');
  expect(notes(h.requests[2]).join('\n')).toMatch(/Effect e2 \(slow service\) is settled now: done/);
});

it('B106 a call that was refused before it started is there, with its result, after a reload', async () => {
  const h = given({
    model: (request) => {
      const { instructions: said, results: got } = read(request);
      return said.length === 1 && got.length === 0
        ? calls(['nothing', { what: 1 }], ['look', { what: 'x' }])
        : say('so be it');
    },
  });
  const id = await h.start('call what is not there');
  await h.rest(id);
  h.restart();
  await h.tell(id, 'and now?');

  const last = h.requests.at(-1);
  const asked = last?.messages.flatMap((m) => ('parts' in m ? m.parts : []));
  expect(asked?.filter((part) => part.type === 'tool-call').map((part) => part.call)).toEqual([
    'call_1',
    'call_2',
  ]);
  expect(results(last).map(({ call, status }) => `${call} ${status}`)).toEqual([
    'call_1 refused',
    'call_2 done',
  ]);
});

it('B107 empty and repeated ids of a provider bind nothing', async () => {
  const ran: unknown[] = [];
  const count = tool('count', { kind: 'read' }, async (args) => {
    ran.push(args);
    return { status: 'done', result: args };
  });
  const call = (id: string, n: number) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'count',
    input: JSON.stringify({ n }),
  });
  const model = streaming([
    { parts: [call('', 1), call('', 2)], finish: 'tool-calls' },
    { parts: [call('', 3)], finish: 'tool-calls' },
    { text: 'counted', finish: 'stop' },
    { text: 'again', finish: 'stop' },
  ]);
  const h = given({ tools: [count], model: languageModel(model, { name: 'test/ids' }) });
  const id = await h.start('count');
  await h.rest(id);
  h.restart();
  await h.tell(id, 'once more');

  expect(ran).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(results(h.requests.at(-1)).map(({ call: own, text }) => `${own} ${text}`)).toEqual([
    'call_1 {"n":1}',
    'call_2 {"n":2}',
    'call_3 {"n":3}',
  ]);
});

it('B112 nothing is stored twice when a decision is made after a reload', async () => {
  const h = given({
    model: (request) =>
      read(request).results.length === 0 ? calls(['post', { what: 'it' }]) : say('posted'),
  });
  const id = await h.start('post it');
  await h.until(() => h.world.books.length === 1, 'a post that was taken');
  h.restart();
  await h.rest(id);
  h.restart();
  await h.done(h.api.decide(id, 'd1', 'done'));
  await h.rest(id);

  const s = await h.state(id);
  expect(s.transcript.map((item) => item.kind)).toEqual(['message', 'reply', 'reply']);
  expect(await events(h, id, 'message.read')).toHaveLength(1);
  expect(await events(h, id, 'effect.intended')).toHaveLength(1);
  expect(results(h.requests.at(-1))).toHaveLength(1);
});

it('B114 what the person saw before an interrupt is in the next request once, marked as cut', async () => {
  const held = gate();
  const h = given({
    model: [
      async (_request, { onText }) => {
        for (const sentence of ['One. ', 'Two. ', 'Three']) onText?.(sentence);
        await held.pass();
        return say('never');
      },
      say('I was counting'),
    ],
  });
  const id = await h.start('count');
  await h.until(() => held.reached === 1, 'a model that writes');
  await h.done(h.api.interrupt(id));
  await h.tell(id, 'what were you saying?');

  const written = JSON.stringify(h.requests[1]?.messages);
  expect(written.split('One. Two. Three')).toHaveLength(2);
  expect(notes(h.requests[1]).join('\n')).toMatch(/The text above was cut off; the person saw it so far/);
});

it('B114 also when the next instruction is waiting already', async () => {
  const held = gate();
  const h = given({
    model: [
      async (_request, { onText }) => {
        onText?.('One. Two.');
        await held.pass();
        return say('never');
      },
      say('ok'),
    ],
  });
  const id = await h.start('count');
  await h.until(() => held.reached === 1, 'a model that writes');
  await h.done(h.api.send(id, 'no, stop: what were you saying?'));
  await h.done(h.api.interrupt(id));
  await h.rest(id);

  const texts = h.requests[1]?.messages.map((m) => (m.role === 'user' ? m.text : JSON.stringify(m))) ?? [];
  const cut = texts.findIndex((text) => text.includes('One. Two.'));
  expect(cut).toBeGreaterThan(0);
  expect(texts.indexOf('no, stop: what were you saying?')).toBeGreaterThan(cut);
});

it('B192 calls that completed are what they were, after a clean exit', async () => {
  const h = given({
    model: (request) => {
      const { instructions: said, results: got } = read(request);
      if (said.length > 1 || got.length >= 20) return say('all twenty');
      return calls(...Array.from({ length: 5 }, (_, i) => ['look', { what: `${got.length + i}` }] as const));
    },
  });
  const id = await h.start('look twenty times');
  await h.rest(id);
  const live = results(h.requests.at(-1));
  await h.done(h.api.close());
  h.join();
  await h.tell(id, 'what did you see?');

  expect(results(h.requests.at(-1))).toEqual(live);
  expect(live.map(({ status }) => status)).toEqual(Array(20).fill('done'));
  const { effects } = await h.state(id);
  expect(effects.closed.map((effect) => resultOf(effect).text)).toEqual(live.map(({ text }) => text));
});
