/** What waits for a person: questions, approvals, and code in between. */

import { type Policy, policyOf } from '../../../core/policy.ts';
import { allResults, calls, cell, doing, endOfCell, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

/** Asks before these services are called, and lets the rest pass. */
const askBefore = (services: readonly string[], expiresAfterMs?: number): Policy =>
  policyOf([
    {
      name: 'asked',
      when: ({ tool }) => services.includes(tool),
      verdict: 'ask',
      ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    },
    { name: 'rest', when: () => true, verdict: 'allow' },
  ]);

export const PEOPLE: readonly Scenario[] = [
  {
    name: 'a question, then a nap',
    acts: [{ do: 'start', text: 'ask, then sleep on it' }],
    wanted: { 'pay: blue': 1 },
    answer: 'blue',
    says: 'pay: done',
    reply(request) {
      const { results } = read(request);
      if (results.length === 0) {
        return calls(['ask_person', { question: 'Which colour?' }], ['progress', { text: 'asking' }]);
      }
      const said = /answered: (\w+)/.exec(results[0]?.text ?? '')?.[1];
      if (said === undefined) return say('Nobody answered.');
      if (results.length === 2) return calls(['pay', { what: said }], ['sleep', { seconds: 90 }]);
      return say(report(results));
    },
  },
  {
    name: 'a cell that waits for a person',
    acts: [
      { do: 'start', text: 'ask from code', leavesOpen: true },
      { do: 'send', text: 'what are you waiting for?', when: 'now', leavesOpen: true },
      { do: 'rest' },
    ],
    wanted: { 'book: blue': 1, 'pay: before': 1 },
    answer: 'blue',
    says: 'it was blue',
    reply(request) {
      const { instructions, results } = read(request);
      const ended = endOfCell(request);
      if (ended !== null) return say(ended);
      if (instructions.length === 1) {
        return results.length === 0
          ? cell(`await tools.pay({ what: 'before' });
              const said = await tools.ask_person({ question: 'Which colour?', choices: ['blue', 'red'] });
              await tools.book({ what: said.text }); 'it was ' + said.text`)
          : say(results[0]?.text ?? '');
      }
      return say(
        allResults(request).find(({ text }) => text.includes('it was blue'))?.text ?? 'I wait for an answer.',
      );
    },
  },
  {
    name: 'a fork, while code waits for a person',
    // One fork at a time.
    except: ['fork'],
    acts: [{ do: 'start', text: 'ask from code', leavesOpen: true }, { do: 'fork' }, { do: 'rest' }],
    wanted: { 'pay: before': 1, 'book: after': 1 },
    answer: 'blue',
    says: 'heard blue',
    reply(request) {
      const { results } = read(request);
      return results.length === 0
        ? cell(`await tools.pay({ what: 'before' });
            const heard = await tools.ask_person({ question: 'Which colour?' }).then(({ text }) => text, ({ code }) => code);
            await tools.book({ what: 'after' }); 'heard ' + heard`)
        : say(results[0]?.text ?? '');
    },
  },
  {
    name: 'three approvals, the last one first',
    acts: [{ do: 'start', text: 'pay, post, mail' }],
    policy: askBefore(['pay', 'post', 'mail']),
    isBackward: true,
    approves: (what) => what !== 'Eve',
    wanted: { 'pay: rent': 1, 'post: it': 1 },
    says: 'pay: done\npost: done\nmail: failed',
    reply: doing(['pay', { what: 'rent' }], ['post', { what: 'it' }], ['mail', { what: 'Eve' }]),
  },
  {
    name: 'a cell that waits for approvals',
    acts: [
      { do: 'start', text: 'book from code', leavesOpen: true },
      { do: 'send', text: 'what are you waiting for?', when: 'now', leavesOpen: true },
      { do: 'rest' },
    ],
    policy: askBefore(['mail', 'book']),
    approves: (what) => what !== 'Eve',
    wanted: { 'book: seat': 1, 'pay: before': 1, 'pay: after': 1 },
    says: 'booked, and rejected',
    reply(request) {
      const { instructions, results } = read(request);
      const ended = endOfCell(request);
      if (ended !== null) return say(ended);
      if (instructions.length === 1) {
        return results.length === 0
          ? cell(`await tools.pay({ what: 'before' });
              await tools.book({ what: 'seat' });
              const mailed = tools.mail({ what: 'Eve' }).then(() => 'mailed', (error) => error.code);
              await tools.pay({ what: 'after' });
              'booked, and ' + await mailed`)
          : say(results[0]?.text ?? '');
      }
      return say(
        allResults(request).find(({ text }) => text.includes('booked, and'))?.text ?? 'I wait for a person.',
      );
    },
  },
  {
    name: 'nobody approves in time',
    // Longer than it takes to expire and the clock may be set back.
    acts: [{ do: 'start', text: 'pay', leavesOpen: true }, { do: 'wait', ms: 70 * 60_000 }, { do: 'rest' }],
    policy: askBefore(['pay'], 5 * 60_000),
    sweepMs: 5 * 60_000,
    approves: (what) => what === 'fork',
    wanted: {},
    says: 'pay: failed',
    reply: doing(['pay', { what: 'rent' }]),
  },
];
