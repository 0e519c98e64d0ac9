/** Work that is given to children, and comes back. */

import type { ModelRequest } from '../../../core/message.ts';
import type { Json } from '../../../lib/json.ts';
import { DELEGATION } from '../../../tools/delegate/delegate.ts';
import { allResults, calls, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

/** Everything that the model reads of its children: results of calls, and what comes like a message; not the report after a loss. */
const heard = (request: ModelRequest): string =>
  [
    ...allResults(request).map(({ text }) => text),
    ...request.messages.flatMap((message) =>
      message.role === 'user' && !isPresent(message) ? [message.text] : [],
    ),
  ].join('\n');

const isPresent = ({ text }: { readonly text: string }): boolean => text.startsWith('[outlast] The present');

/** What came of the children with this title, in order: the id of the one, and how its work ended. */
const answersOf = (request: ModelRequest, title: string): readonly (readonly [id: string, end: string])[] =>
  [...heard(request).matchAll(new RegExp(`Child (ses_\\w+) \\("${title}"\\) (\\w+)`, 'g'))].map(
    ([, id = '', end = '']) => [id, end] as const,
  );

/** What each of these sessions does, step by step, for its first instruction. */
const WORK: Readonly<Record<string, readonly (readonly (readonly [tool: string, input: Json])[])[]>> = {
  'the rent': [[['pay', { what: 'rent' }]], [['look', { what: 'receipt' }]]],
  'the letters': [
    [
      ['mail', { what: 'first' }],
      ['delegate', { task: 'the stamps' }],
    ],
  ],
  // Longer than a stop waits.
  'the wine': [[['sleep', { seconds: 60 }]], [['pay', { what: 'wine' }]]],
  'the cellar': [[['sleep', { seconds: 3_600 }]], [['pay', { what: 'cellar' }]]],
  'the stamps': [[['book', { what: 'stamps' }]]],
};

function ofChild(request: ModelRequest, task: string) {
  const { instructions, results } = read(request);
  if (instructions.length > 1) {
    return results.length === 0 ? calls(['mail', { what: 'again' }]) : say(report(results));
  }
  const next = WORK[task]?.[countSteps(request)];
  return next ? calls(...next) : say(report(results));
}

const countSteps = ({ messages }: ModelRequest): number =>
  messages.filter((message) => message.role === 'tool').length;

export const CHILDREN: readonly Scenario[] = [
  {
    name: 'work that is given away, and one more of the same child',
    modes: [
      'crash',
      'again',
      'freeze',
      'contend',
      'overtake',
      'send',
      'stop',
      'interrupt',
      'pause',
      'outage',
    ],
    hasChildren: true,
    tools: DELEGATION,
    acts: [{ do: 'start', text: 'give it away' }],
    wanted: { 'pay: rent': 1, 'mail: first': 1, 'book: stamps': 1, 'mail: again': 1, 'pay: own': 1 },
    says: 'all is back',
    // A child that is taken out of the way is told as one: another course.
    limits: { crashes: 30 },
    reply(request) {
      const { instructions, results } = read(request);
      const [task = ''] = instructions;
      if (task !== 'give it away') return ofChild(request, task);
      if (results.length === 0)
        return calls(
          ['delegate', { task: 'the rent' }],
          ['delegate', { task: 'the letters' }],
          ['pay', { what: 'own' }],
        );
      const [rent, letters] = ['the rent', 'the letters'].map((title) => answersOf(request, title));
      const [child] = letters?.[0] ?? [];
      if (child === undefined || rent?.length === 0) return say('waiting');
      if (results.length === 3) return calls(['continue_child', { child, message: 'once more' }]);
      return say(letters?.length === 2 ? 'all is back' : 'waiting');
    },
  },
  {
    // What comes of them comes like a message, and all are told of in the end.
    name: 'children that nobody waits for',
    hasChildren: true,
    tools: DELEGATION,
    modes: ['crash', 'again', 'freeze', 'contend', 'stop', 'pause', 'outage'],
    acts: [{ do: 'start', text: 'let them' }],
    wanted: { 'pay: rent': 1, 'book: stamps': 1, 'pay: wine': 1 },
    limits: { crashes: 30 },
    reply(request) {
      const { instructions, results } = read(request);
      const [task = ''] = instructions;
      if (task !== 'let them') return ofChild(request, task);
      if (results.length === 0)
        return calls(
          ['delegate', { task: 'the rent', wait: false }],
          ['delegate', { task: 'the stamps', wait: false }],
          ['delegate', { task: 'the wine', wait: false }],
        );
      return say(report(results));
    },
  },
  {
    name: 'a stop goes down the tree',
    hasChildren: true,
    tools: DELEGATION,
    modes: ['crash', 'again', 'freeze', 'contend', 'outage'],
    acts: [
      { do: 'start', text: 'the cellar, by another' },
      { do: 'stop' },
      { do: 'wait', ms: 2 * 3_600_000 },
      { do: 'reopen' },
    ],
    wanted: {},
    limits: { crashes: 30 },
    sweepMs: 1_200_000,
    reply(request) {
      const { instructions, results } = read(request);
      const [task = ''] = instructions;
      if (task !== 'the cellar, by another') return ofChild(request, task);
      return results.length === 0
        ? calls(['delegate', { task: 'the cellar', wait: false }])
        : say(report(results));
    },
  },
  {
    // From the bottom up, and what there was of each is told by its tombstone.
    name: 'a tree that is deleted',
    hasChildren: true,
    tools: DELEGATION,
    modes: ['crash', 'again', 'freeze', 'contend', 'outage'],
    acts: [{ do: 'start', text: 'by others' }, { do: 'stop' }, { do: 'delete' }],
    wanted: { 'mail: first': 1, 'book: stamps': 1 },
    limits: { crashes: 30 },
    reply(request) {
      const { instructions, results } = read(request);
      const [task = ''] = instructions;
      if (task !== 'by others') return ofChild(request, task);
      return results.length === 0 ? calls(['delegate', { task: 'the letters' }]) : say(report(results));
    },
  },
];
