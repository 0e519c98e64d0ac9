/** `ask`: a question beside the work. It is answered from what the work knows, and the work does not notice. */

import { expect, it } from 'vitest';
import { scriptedPlanner } from '../../src/models/scripted/planner.ts';
import { calls, gate, say, tool } from '../../src/testing/harness.ts';
import { events, given, instructions, responses, results } from '../faults/kit.ts';

const COSTLY = { inputTokens: 700, outputTokens: 30, cachedTokens: 600 };

it('is answered while a tool runs, and leaves no event, no word and no cost in the session', async () => {
  const held = gate();
  const slow = tool('slow', { kind: 'read' }, () => held.pass({ status: 'done', result: 'ready' }));
  const h = given({
    tools: [slow],
    limits: { effectTimeoutMs: 3_600_000 },
    model: (request) => {
      if (request.isAside) return { ...say(`asked: ${request.messages.length}`), usage: COSTLY };
      return results(request).length === 0 ? calls(['slow', {}]) : say('ready');
    },
  });
  const id = await h.start('begin');
  await h.until(() => held.reached === 1, 'a tool that runs');
  const before = await h.log(id);
  const asked = await h.done(h.api.ask(id, 'How far are you?'));
  expect(asked).toEqual({
    answer: expect.stringMatching(/^asked: /),
    model: 'scripted/test',
    asOf: before.length,
    usage: COSTLY,
  });
  expect(await h.log(id)).toEqual(before);
  const [question] = h.requests.filter(({ isAside }) => isAside);
  expect(question?.messages.at(-1)).toMatchObject({
    role: 'user',
    text: expect.stringMatching(
      /^\[outlast\] A question about this work.*The work is working\..*\n\nHow far are you\?$/s,
    ),
  });
  held.open();
  await h.rest(id);

  // What the model is told for its work begins as it would have without the question.
  const [first, next] = h.requests.filter(({ isAside }) => !isAside);
  expect(next?.messages.slice(0, 1)).toEqual(first?.messages.slice(0, 1));
  expect(JSON.stringify(next)).not.toContain('How far');
  expect(await responses(h, id)).toEqual(['ready']);
  const spent = (await events(h, id, 'model.completed')).map(({ usage }) => usage.inputTokens);
  expect(spent).toEqual([0, 0]);
  expect(held.reached).toBe(1);
});

it('is answered of a session that rests, waits for a person, or was stopped', async () => {
  const h = given({
    model: (request) => {
      if (request.isAside)
        return say(/The work is (\w+)/.exec(JSON.stringify(request.messages.at(-1)))?.[1] ?? '');
      return instructions(request).length > 1 ? calls(['ask_person', { question: 'Which?' }]) : say('done');
    },
  });
  const id = await h.start('begin');
  const told = [];
  await h.rest(id);
  told.push((await h.done(h.api.ask(id, 'And?'))).answer);
  await h.tell(id, 'more');
  told.push((await h.done(h.api.ask(id, 'And?'))).answer);
  await h.done(h.api.stop(id));
  h.restart();
  told.push((await h.done(h.api.ask(id, 'And?'))).answer);

  expect(told).toEqual(['awaiting_input', 'awaiting_decision', 'stopped']);
  expect(await h.rest(id)).toBe('stopped');
});

it('a question is one that a provider takes, and an empty or endless one is refused', async () => {
  const h = given({ model: () => say('well') });
  const id = await h.start('begin');
  await h.rest(id);
  await h.done(h.api.ask(id, 'half a character: \ud800'));
  for (const question of ['', ' \n', 'x'.repeat(20_001)])
    await expect(h.done(h.api.ask(id, question))).rejects.toMatchObject({ code: 'message.invalid' });
});

it('a model that fails, says nothing, or never answers is said to have failed', async () => {
  const h = given({
    limits: { modelTimeoutMs: 5_000 },
    model: (request) => {
      if (!request.isAside) return say('done');
      const question = JSON.stringify(request.messages.at(-1));
      if (question.includes('silent')) return new Promise(() => {});
      if (question.includes('calls')) return calls(['look', { what: 'x' }]);
      throw new Error('a secret of the client');
    },
  });
  const id = await h.start('begin');
  await h.rest(id);
  const head = (await h.log(id)).length;
  const failed = (message: string) => ({ code: 'model.failed', message });
  await expect(h.done(h.api.ask(id, 'silent?'))).rejects.toMatchObject({ code: 'model.failed' });
  await expect(h.done(h.api.ask(id, 'calls?'))).rejects.toMatchObject(
    failed('The model answered without a word.'),
  );
  await expect(h.done(h.api.ask(id, 'fails?'))).rejects.toMatchObject(
    failed('The model could not be asked.'),
  );
  expect(await h.log(id)).toHaveLength(head);
  expect(h.world.reads).toBe(0);
});

it('the scripted planner says that it is no model, and what the task itself says', async () => {
  const h = given({ model: scriptedPlanner() });
  const id = await h.start('hello');
  await h.rest(id);
  const { answer, model } = await h.done(h.api.ask(id, 'How far are you?'));
  expect(model).toBe('scripted planner, no model');
  expect(answer).toMatch(
    /^No model answers here: this is the scripted planner, and it cannot answer questions/,
  );
  expect(answer).toContain((await responses(h, id))[0]);
  expect(answer).toMatch(/\nlive objects: none/);
});

it('is held by what its owner may use, and costs the session nothing', async () => {
  const h = given({
    model: (request) => ({ ...say(request.isAside ? 'half way' : 'done'), usage: COSTLY }),
  });
  const id = await h.start('begin');
  await h.rest(id);
  await h.done(h.api.setOwnerBudget({ steps: 1 }));
  expect((await h.done(h.api.ask(id, 'How far are you?'))).answer).toBe('half way');
  const { spent } = await h.done(h.api.ownerBudget());
  expect(spent).toMatchObject({ steps: 1, tokens: 730 });
  await expect(h.done(h.api.ask(id, 'And now?'))).rejects.toMatchObject({ code: 'budget.exhausted' });
  expect(h.requests.filter(({ isAside }) => isAside)).toHaveLength(1);
  expect((await h.state(id)).budget.spent.steps).toBe(1);
  expect((await h.done(h.api.setOwnerBudget({ steps: 2 }))).spent.steps).toBe(1);
  expect((await h.done(h.api.ask(id, 'And now?'))).answer).toBe('half way');
});
