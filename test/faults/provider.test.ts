/** Provider errors: a reply that did not come to its proper end is never taken for one, and nothing is said twice. */

import { expect, it } from 'vitest';
import { languageModel } from '../../src/models/ai-sdk/language-model.ts';
import { toCall } from '../../src/models/ai-sdk/prompt.ts';
import { type Model, ModelError } from '../../src/models/port.ts';
import { calls, type Harness, say, tool } from '../../src/testing/harness.ts';
import { events, given, instructions, notes, responses, results } from './kit.ts';
import { type Streamed, streaming } from './streams.ts';

/** Over the adapter: a provider that streams these, one after the other. */
const wire = (...streams: readonly Streamed[]): Model =>
  languageModel(streaming(streams), { name: 'test/wire' });

/** What followers saw being written, with what was thrown away marked. */
async function written(h: Harness, session: string, work: () => Promise<unknown>): Promise<string> {
  let text = '';
  const over = new AbortController();
  const follow = async () => {
    for await (const event of h.api.follow(session, { signal: over.signal, whispers: true })) {
      if (event.kind === 'whisper') text += event.text;
      if (event.kind === 'model.failed') text = '';
      if (event.kind === 'model.completed') text += ' (end)';
    }
  };
  const following = follow();
  await work();
  over.abort();
  await h.done(following);
  return text;
}

const cut = (id: string, input: string) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'pay',
  input,
});

it.each([
  ['B011 arguments that are cut at the output limit', 'length'],
  ['B179 arguments that are cut, though the provider says they are not,', 'tool-calls'],
] as const)('%s run nothing; the model is told, and it is bounded', async (_title, finish) => {
  const broken: Streamed = { text: 'Paying. ', parts: [cut('x', '{"what": "re')], finish };
  const h = given({
    model: wire(broken, { text: 'I will not', finish: 'stop' }, ...Array(20).fill(broken)),
  });
  const id = await h.start('pay the rent');
  await h.rest(id);
  expect(results(h.requests[1])).toMatchObject([
    { status: 'refused', text: expect.stringMatching(/This call was not run: the (reply|arguments)/) },
  ]);
  const sent = toCall(h.requests[1] as never).prompt.flatMap((m) =>
    m.role === 'assistant' ? m.content : [],
  );
  expect(sent.filter((part) => part.type === 'tool-call')).toMatchObject([
    { toolCallId: 'call_1', input: {} },
  ]);

  await h.tell(id, 'try again');
  expect(h.requests).toHaveLength(2 + 3);
  expect(await events(h, id, 'turn.failed')).toMatchObject([
    { code: 'model.broken', reason: expect.stringMatching(/cut off or malformed 3 times in a row/) },
  ]);
  expect(h.world.books).toEqual([]);
});

it('B011 a call that can be run begins the count anew, and an instruction does', async () => {
  const broken: Streamed = { parts: [cut('x', '{"what": "re')], finish: 'length' };
  const whole: Streamed = { parts: [cut('y', '{"what":"rent"}')], finish: 'tool-calls' };
  const end: Streamed = { text: 'paid', finish: 'stop' };
  const h = given({ model: wire(broken, broken, whole, broken, broken, end, broken, broken, end) });
  const id = await h.start('pay the rent');
  await h.rest(id);
  await h.tell(id, 'and once more');
  expect(await responses(h, id)).toEqual(['paid', 'paid']);
  expect(h.world.books).toHaveLength(1);
});

it('B075 a refusal that comes with calls ends the turn as refused: nothing is run, nobody is asked again', async () => {
  const refusal: Streamed = {
    text: 'I will not.',
    parts: [cut('x', '{"what":"rent"}')],
    finish: 'content-filter',
  };
  const h = given({ model: wire(refusal, { text: 'with pleasure', finish: 'stop' }) });
  const id = await h.start('pay the rent');
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(h.requests).toHaveLength(1);
  expect(await events(h, id, 'turn.failed')).toMatchObject([
    { code: 'model.refused', reason: 'The model refused: I will not.' },
  ]);
  await h.tell(id, 'something nice');
  expect(results(h.requests[1])).toMatchObject([{ call: 'call_1', status: 'interrupted' }]);
  expect(h.world.books).toEqual([]);
  expect(await responses(h, id)).toEqual(['with pleasure']);
});

it('B053 a stream without its end mark is called again, and never surfaced', async () => {
  const h = given({ model: wire({ text: 'The total is' }, { text: 'The total is 42.', finish: 'stop' }) });
  const id = await h.start('add it up');
  await h.rest(id);

  expect(await responses(h, id)).toEqual(['The total is 42.']);
  expect(await events(h, id, 'model.failed')).toMatchObject([
    { code: 'incomplete', retry: true, partial: 'The total is' },
  ]);
  expect(h.requests[1]).toEqual(h.requests[0]);
});

it('B074 an overload inside a stream is retried after a pause, and no text is doubled', async () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const h = given({
    model: wire(
      { text: 'ready', finish: 'stop' },
      { text: 'One two three ', parts: [overloaded] },
      { text: 'One two three four.', finish: 'stop' },
    ),
  });
  const id = await h.start('warm up');
  await h.rest(id);
  const before = h.clock.now();
  const text = await written(h, id, () => h.tell(id, 'count'));

  expect(h.clock.now() - before).toBeGreaterThanOrEqual(500);
  expect(text).toBe('One two three four. (end)');
  expect((await responses(h, id)).at(-1)).toBe('One two three four.');
  await h.tell(id, 'again');
  expect(JSON.stringify(h.requests.at(-1)).split('One two three')).toHaveLength(2);
});

it('B074 the pause is the one that the provider asks for, also over a restart', async () => {
  const limited = new ModelError('rate_limited', 'slow down', { retry: true, retryAfterMs: 90_000 });
  const asked: number[] = [];
  const h = given({
    model: (_request, { n }) => {
      asked.push(h.clock.now());
      if (n === 1) throw limited;
      return say('now');
    },
  });
  const id = await h.start('go');
  await h.until(async () => (await events(h, id, 'model.failed')).length === 1, 'a failure');
  h.restart();
  await h.rest(id);

  const [first = 0, second = 0] = asked;
  expect(asked).toHaveLength(2);
  expect(second - first).toBeGreaterThanOrEqual(90_000);
  expect(second - first).toBeLessThan(100_000);
});

it('B074 after as many attempts as the limits allow the turn ends, and the session stays', async () => {
  const down = new ModelError('overloaded', 'test is overloaded', { retry: true });
  const h = given({ limits: { modelAttempts: 3 }, model: [down, down, down, say('up again')] });
  const id = await h.start('go');
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(await events(h, id, 'turn.failed')).toMatchObject([{ code: 'overloaded' }]);
  expect(h.requests).toHaveLength(3);
  await h.tell(id, 'and now?');
  expect(await responses(h, id)).toEqual(['up again']);
});

it('B075 a refusal is surfaced as one, is not retried, and leaves no empty turn', async () => {
  const refusal = { parts: [], finish: 'refusal', usage: say('').usage } as const;
  const h = given({ model: [refusal, refusal, say('with pleasure')] });
  const id = await h.start('something bad');
  expect(await h.rest(id)).toBe('awaiting_input');
  const { reason } = await h.done(h.api.inspect(id));
  await h.tell(id, 'something bad, again');
  await h.tell(id, 'something nice');

  expect(reason).toBe('The model refused.');
  expect(h.requests).toHaveLength(3);
  expect(await events(h, id, 'turn.failed')).toMatchObject([
    { code: 'model.refused' },
    { code: 'model.refused' },
  ]);
  expect(h.requests[2]?.messages.filter((message) => message.role === 'assistant')).toEqual([]);
  expect(await responses(h, id)).toEqual(['with pleasure']);
});

it('B076 a request that is refused for good is tried once each time, and adds nothing to the history', async () => {
  const bad = new ModelError('refused_request', 'test refuses this request (400): bad block', {
    retry: false,
  });
  const h = given({ model: [bad, bad, bad, say('repaired')] });
  const id = await h.start('one');
  await h.rest(id);
  const seen = await h.done(h.api.inspect(id));
  for (const text of ['two', 'three']) await h.tell(id, text);

  expect(seen).toMatchObject({
    phase: 'awaiting_input',
    reason: expect.stringMatching(/\(400\): bad block/),
  });
  expect(h.requests).toHaveLength(3);
  // Nothing but what the person said.
  expect(h.requests[2]?.messages.slice(0, -1)).toEqual(
    ['one', 'two', 'three'].map((text) => ({ role: 'user', text })),
  );
  expect(notes(h.requests[2])).toEqual([]);
  await h.tell(id, 'four');
  expect(instructions(h.requests[3])).toEqual(['one', 'two', 'three', 'four']);
});

it('B076 what a provider has signed and refuses is left out whole from then on, and the log keeps it', async () => {
  const reasoning = { type: 'reasoning', text: 'hm', meta: { p: { signature: 'old key' } } } as const;
  const text = { type: 'text', text: 'first', meta: { p: { itemId: 'rs_1' } } } as const;
  const h = given({
    model: (request) => {
      const isSigned = JSON.stringify(request.messages).includes('old key');
      if (isSigned) throw new ModelError('refused_request', 'invalid signature (400)', { retry: false });
      return { parts: [reasoning, text], finish: 'stop', usage: say('').usage };
    },
  });
  const id = await h.start('one');
  await h.rest(id);
  await h.tell(id, 'two');
  expect(await events(h, id, 'turn.failed')).toMatchObject([{ turn: 2, code: 'refused_request' }]);
  await h.tell(id, 'three');
  expect(await responses(h, id)).toEqual(['first', 'first']);
  const replies = h.requests.at(-1)?.messages.filter(({ role }) => role === 'assistant');
  expect(replies).toEqual([{ role: 'assistant', parts: [{ type: 'text', text: 'first' }] }]);
  const [completed] = await events(h, id, 'model.completed');
  expect(completed?.parts).toEqual([reasoning, text]);
});

it('B053 a reply that announces calls and brings none is called again', async () => {
  const h = given({
    tools: [tool('never', { kind: 'blind' }, async () => ({ status: 'done', result: null }))],
    model: wire({ text: 'Let me', finish: 'tool-calls' }, { text: 'Here.', finish: 'stop' }),
  });
  const id = await h.start('go');
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['Here.']);
});

it('B011 an answer that is cut at the output limit says that it is not complete', async () => {
  const h = given({
    model: [{ ...say('The first half'), finish: 'length' }, calls(['look', { what: 'x' }])],
  });
  const id = await h.start('tell me everything');
  await h.rest(id);
  expect(await events(h, id, 'response.surfaced')).toMatchObject([
    { text: 'The first half', complete: false },
  ]);
});
