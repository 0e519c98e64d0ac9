/** `ask_person`: a question of the work. It waits in the log, and its answer reaches whoever asked, or nobody. */

import { expect, it } from 'vitest';
import { OutlastError } from '../../src/core/error.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import { calls, type Harness, say } from '../../src/testing/harness.ts';
import {
  books,
  events,
  given,
  instructions,
  notes,
  present,
  responses,
  results,
  sandbox,
} from '../faults/kit.ts';

const DAY_MS = 86_400_000;

/** A session that has asked these questions in its first step. */
async function asking(...questions: readonly { question: string; choices?: readonly string[] }[]) {
  const h = given({
    model: (request) => {
      const got = results(request);
      const asked = questions.map((question) => ['ask_person', question] as const);
      return got.length === 0 ? calls(...asked) : say(got.map(({ text }) => text).join(' | '));
    },
  });
  const id = await h.start('paint it');
  await h.until(async () => (await h.store.row(id))?.openDecisions === questions.length, 'the questions');
  return { h, id };
}

const moot = async (h: Harness, id: string) =>
  (await h.state(id)).decisions.filter((decision) => decision.moot).map((decision) => decision.id);

it('B029 a question stands in the log, waits over restarts, and its answer is the result of the call', async () => {
  const { h, id } = await asking({ question: ' Which colour? ' });
  expect(await h.rest(id)).toBe('awaiting_decision');
  expect(await events(h, id, 'decision.requested')).toMatchObject([
    {
      decision: 'd1',
      effect: null,
      origin: { by: 'call', call: 'call_1' },
      question: 'Which colour?',
      options: ['answer'],
      choices: [],
    },
  ]);
  h.end();
  h.clock.elapse(3 * DAY_MS);
  h.restart();
  expect(await h.done(h.api.inspect(id))).toMatchObject({
    phase: 'awaiting_decision',
    decisions: [{ id: 'd1', effect: null, question: 'Which colour?', options: ['answer'], choices: [] }],
  });
  await h.done(h.api.decide(id, 'd1', 'answer', 'a dark blue'));
  await h.rest(id);

  expect(await responses(h, id)).toEqual(['local answered: a dark blue']);
  expect(h.requests).toHaveLength(2);
  // The same again is the same; another answer comes too late.
  await h.done(h.api.decide(id, 'd1', 'answer', 'a dark blue'));
  await expect(h.done(h.api.decide(id, 'd1', 'answer', 'red'))).rejects.toMatchObject({
    code: 'decision.closed',
    message: 'd1 was decided already: answer, by local: a dark blue.',
  });
  expect(await events(h, id, 'decision.made')).toHaveLength(1);
});

it('takes an answer and nothing else, and where there are choices, one of them', async () => {
  const { h, id } = await asking({ question: 'Which?', choices: ['blue', 'red'] }, { question: 'Why?' });
  const refused = async (decision: string, answer: 'answer' | 'done', text = '') =>
    h.done(h.api.decide(id, decision, answer, text)).then(
      () => 'taken',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    );
  expect(await refused('d1', 'done')).toBe('decision.invalid: d1 takes one of: answer.');
  expect(await refused('d1', 'answer', 'Blue')).toBe(
    'decision.invalid: d1 takes one of these answers: blue, red.',
  );
  expect(await refused('d2', 'answer', ' ')).toBe('decision.invalid: An answer to d2 needs its text.');
  expect(await refused('d2', 'answer', 'x'.repeat(200_001))).toMatch(
    /^decision.invalid: An answer has at most/,
  );
  expect(await events(h, id, 'decision.made')).toEqual([]);
  await h.done(h.api.decide(id, 'd1', 'answer', 'red'));
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.done(h.api.decide(id, 'd2', 'answer', 'why not'));
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['local answered: red | local answered: why not']);
});

it('B088 two questions of one turn are answered in any order, each to its own call', async () => {
  const { h, id } = await asking({ question: 'Which colour?' }, { question: 'Which room?' });
  await h.done(h.api.decide(id, 'd2', 'answer', 'the kitchen'));
  expect(await h.rest(id)).toBe('awaiting_decision');
  expect(h.requests).toHaveLength(1);
  h.restart();
  await h.done(h.api.decide(id, 'd1', 'answer', 'blue'));
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['local answered: blue | local answered: the kitchen']);
});

it('B061 a message `now` suspends the question, and the answer arrives later like a message', async () => {
  const h = given({
    model: (request) => {
      const got = results(request);
      if (got.length === 0) return calls(['ask_person', { question: 'Which colour?' }]);
      const answered = JSON.stringify(request.messages).includes(
        'Decision d1 (Which colour?): local answered',
      );
      return say(answered ? 'it is blue' : `${got[0]?.status}, heard ${instructions(request).length}`);
    },
  });
  const id = await h.start('paint it');
  await h.rest(id);
  // A message for the next step waits with it: the turn cannot go on without the answer.
  const { rule } = await h.done(h.api.send(id, 'take your time'));
  expect(rule).toBe('waits for decision d1, then joins turn 1');
  expect(await h.rest(id)).toBe('awaiting_decision');
  expect(h.requests).toHaveLength(1);
  await h.done(h.api.send(id, 'are you there?', { when: 'now' }));
  expect(await h.rest(id)).toBe('awaiting_decision');

  expect(await responses(h, id)).toEqual(['suspended, heard 3']);
  expect(present(h.requests[1])).toMatch(/open decision d1: a person is asked "Which colour\?"/);
  h.restart();
  await h.done(h.api.decide(id, 'd1', 'answer', 'blue'));
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(await responses(h, id)).toEqual(['suspended, heard 3', 'it is blue']);
  expect(instructions(h.requests.at(-1))).toHaveLength(3);
});

it.each([['interrupt'], ['stop']] as const)(
  '%s makes the question moot, and to answer it then is refused with the reason',
  async (verb) => {
    const { h, id } = await asking({ question: 'Which colour?' }, { question: 'Which room?' });
    await h.done(h.api.decide(id, 'd2', 'answer', 'the kitchen'));
    await h.done<unknown>(h.api[verb](id));
    expect(await moot(h, id)).toEqual(['d1']);
    expect((await h.store.row(id))?.openDecisions).toBe(0);
    await expect(h.done(h.api.decide(id, 'd1', 'answer', 'blue'))).rejects.toMatchObject({
      code: 'decision.closed',
      message: 'd1 needs no answer any more: whoever asked does not wait for it.',
    });
    if (verb === 'stop') await h.done(h.api.reopen(id));
    expect(await h.tell(id, 'go on')).toBe('awaiting_input');
    // What was answered is the result; what was not is said to be cut off.
    expect(results(h.requests.at(-1)).map(({ status }) => status)).toEqual(['interrupted', 'done']);
  },
);

/** Asks at the first message, says something at the second, and sleeps at the third. */
const stepwise = (request: ModelRequest) => {
  const said = instructions(request).length;
  if (said === 1) return calls(['ask_person', { question: 'Which colour?' }]);
  const hasSlept = results(request).some(({ tool }) => tool === 'sleep');
  return said === 2 || hasSlept ? say('heard') : calls(['sleep', { seconds: 600 }]);
};

it('a question that was suspended outlives the interrupt of a later turn', async () => {
  const h = given({ model: stepwise });
  const id = await h.start('paint it');
  await h.rest(id);
  await h.done(h.api.send(id, 'well?', { when: 'now' }));
  await h.rest(id);
  await h.done(h.api.send(id, 'sleep'));
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.done(h.api.interrupt(id));
  expect([await moot(h, id), await h.rest(id)]).toEqual([[], 'awaiting_decision']);
  await h.done(h.api.decide(id, 'd1', 'answer', 'blue'));
  await h.rest(id);
  expect((await events(h, id, 'message.read')).at(-1)?.messages).toEqual(['end:d1']);
});

it('what was suspended ends with the turn that asked for it, when a person ends that', async () => {
  const both = calls(['ask_person', { question: 'Which colour?' }], ['sleep', { seconds: 600 }]);
  const h = given({
    model: (request, { n }) =>
      n === 1 ? both : calls(['sleep', { seconds: 60 * instructions(request).length }]),
  });
  const id = await h.start('paint it');
  await h.until(async () => (await events(h, id, 'timer.set')).length === 1, 'a timer');
  await h.done(h.api.send(id, 'and?', { when: 'now' }));
  await h.until(async () => (await events(h, id, 'timer.set')).length === 2, 'another timer');
  await h.done(h.api.interrupt(id));
  expect([await moot(h, id), await h.rest(id)]).toEqual([['d1'], 'awaiting_input']);
  await h.pass(3_600_000);
  expect(await events(h, id, 'timer.fired')).toEqual([]);
});

it('a question that was suspended is moot once the session is stopped', async () => {
  const h = given({
    model: (request) =>
      results(request).length === 0 ? calls(['ask_person', { question: 'Which colour?' }]) : say('well'),
  });
  const id = await h.start('paint it');
  await h.rest(id);
  await h.done(h.api.send(id, 'and?', { when: 'now' }));
  await h.rest(id);
  await h.done(h.api.stop(id));
  expect(await moot(h, id)).toEqual(['d1']);
  await h.done(h.api.reopen(id));
  expect(await h.rest(id)).toBe('awaiting_input');
});

it('B034 code that asks goes on from that line, days later, in another process', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got[0]?.text ?? '');
      const source = `await tools.pay({ what: 'paint' });
        const said = await tools.ask_person({ question: 'Which colour?', choices: ['blue', 'red'] });
        await tools.mail({ what: said.text }); [said.text, said.by].join()`;
      return calls(['code', { source }]);
    },
  });
  const id = await h.start('paint it');
  expect(await h.rest(id)).toBe('awaiting_decision');
  expect(await events(h, id, 'decision.requested')).toMatchObject([
    { origin: { by: 'cell', cell: 'c1' }, choices: ['blue', 'red'] },
  ]);
  h.end();
  h.clock.elapse(4 * DAY_MS);
  h.restart();
  await h.done(h.api.decide(id, 'd1', 'answer', 'red'));
  await h.rest(id);

  expect(await responses(h, id)).toEqual(['"red,local"']);
  expect(books(h)).toEqual(['pay: paint', 'mail: red']);
  expect((await events(h, id, 'heap.restored')).map(({ rung }) => rung)).toEqual(['fresh', 'exact']);
});

it('a question of code that is interrupted is moot, and one of a suspended cell is not', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const said = instructions(request).at(-1) ?? '';
      if (said === 'and?' || said === 'go on') return say(said);
      return calls(['code', { source: `(await tools.ask_person({ question: '${said}?' })).text` }]);
    },
  });
  const id = await h.start('first');
  await h.rest(id);
  await h.done(h.api.send(id, 'and?', { when: 'now' }));
  await h.rest(id);
  await h.done(h.api.send(id, 'second'));
  await h.until(async () => (await events(h, id, 'decision.requested')).length === 2, 'two questions');
  await h.done(h.api.interrupt(id));

  expect(await moot(h, id)).toEqual(['d2']);
  await expect(h.done(h.api.decide(id, 'd2', 'answer', 'x'))).rejects.toMatchObject({
    code: 'decision.closed',
  });
  await h.done(h.api.decide(id, 'd1', 'answer', 'blue'));
  await h.rest(id);
  expect(JSON.stringify(h.requests.at(-1)?.messages)).toContain('c1, which was suspended, has ended: done.');
});

it('a question of a cell that is aborted is moot', async () => {
  const h = given({
    sandbox,
    limits: { cellMs: 50 },
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got[0]?.text ?? '');
      const source = `const said = tools.ask_person({ question: 'Which colour?' });
        await tools.look({ what: 'x' }); for (;;);`;
      return calls(['code', { source }]);
    },
  });
  const id = await h.start('paint it');
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(await responses(h, id)).toEqual([expect.stringMatching(/^Aborted: the cell ran too long/)]);
  expect(await moot(h, id)).toEqual(['d1']);
});

it('a question of code in the background is asked with no turn open, and its answer starts none', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      if (results(request).length > 0) return say('armed');
      const source = `setTimeout(async () => {
          const said = await tools.ask_person({ question: 'Which colour?' }); console.log(said.text);
        }, 60_000); 'armed'`;
      return calls(['code', { source }]);
    },
  });
  const id = await h.start('paint it');
  await h.rest(id);
  await h.until(async () => (await h.store.row(id))?.openDecisions === 1, 'a question');
  expect(await h.rest(id)).toBe('awaiting_decision');
  h.restart();
  await h.done(h.api.decide(id, 'd1', 'answer', 'blue'));
  expect(await h.rest(id)).toBe('awaiting_input');
  expect(h.requests).toHaveLength(2);
  await h.tell(id, 'and?');
  expect(notes(h.requests.at(-1)).join()).toMatch(/\[c1 in the background\] blue/);
});

it('code that waited for a person is rebuilt with the answers that it was given, and verifies bit for bit', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got[0]?.text ?? '');
      const source = `const said = [];
        for (const what of ['colour', 'room']) {
          await tools.progress({ text: what });
          await tools.sleep({ seconds: 5 });
          said.push((await tools.ask_person({ question: what + '?' })).text);
        }
        said.join()`;
      return calls(['code', { source }]);
    },
  });
  const id = await h.start('paint it');
  await h.rest(id);
  await h.done(h.api.decide(id, 'd1', 'answer', 'blue'));
  await h.rest(id);
  h.faulty.blob = async () => {
    throw new OutlastError('blob.missing', 'The image is gone.');
  };
  h.restart();
  await h.done(h.api.decide(id, 'd2', 'answer', 'kitchen'));
  await h.rest(id);
  delete h.faulty.blob;

  expect(await responses(h, id)).toEqual(['"blue,kitchen"']);
  // Answered at once: its holder has not let go of it yet, so nothing had to be opened for the first answer.
  expect((await events(h, id, 'heap.restored')).map(({ rung }) => rung)).toEqual(['fresh', 'replayed']);
  expect(await events(h, id, 'decision.requested')).toHaveLength(2);
  expect(await h.done(h.api.verify(id))).toMatchObject({ violations: [], identical: true });
});

it('code that was suspended over its question outlives stop and reopen', async () => {
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(JSON.stringify(request.messages.at(-2)));
      return calls(['code', { source: "(await tools.ask_person({ question: 'Which colour?' })).text" }]);
    },
  });
  const id = await h.start('paint it');
  await h.rest(id);
  await h.done(h.api.send(id, 'and?', { when: 'now' }));
  await h.rest(id);
  await h.done(h.api.stop(id));
  expect(await moot(h, id)).toEqual([]);
  h.restart();
  await h.done(h.api.reopen(id));
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.done(h.api.decide(id, 'd1', 'answer', 'blue'));
  await h.rest(id);
  expect((await responses(h, id)).at(-1)).toMatch(/c1, which was suspended, has ended: done\./);
});

it('a question with an end is over then: who asked is told, and an answer comes too late', async () => {
  const source =
    "await tools.ask_person({ question: 'And this?', seconds: 60 }).catch((error) => error.code + ': ' + error.message)";
  const h = given({
    sandbox,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got.map(({ status, text }) => `${status}: ${text}`).join(' | '));
      return calls(['ask_person', { question: 'Which?', seconds: 60 }], ['code', { source }]);
    },
  });
  const id = await h.start('ask');
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.until(async () => (await responses(h, id)).length === 1, 'an answer');
  expect(await responses(h, id)).toEqual([
    'failed: Nobody answered in time [question.expired] | done: "question.expired: Nobody answered in time"',
  ]);
  expect(await events(h, id, 'decision.expired')).toHaveLength(2);
  await expect(h.done(h.api.decide(id, 'd1', 'answer', 'blue'))).rejects.toMatchObject({
    code: 'decision.expired',
    message: expect.stringMatching(/^d1 could be answered until \S+Z\.$/),
  });
});
