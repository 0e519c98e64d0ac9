/** A conversation and its tasks: what comes of them is told, each once, whenever the machine dies. */

import type { ModelRequest } from '../../../core/message.ts';
import type { ModelReply } from '../../../models/port.ts';
import { DELEGATION } from '../../../tools/delegate/delegate.ts';
import { calls, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

/** What stands behind the last reply. */
function news({ messages }: ModelRequest) {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1, -1);
  const texts = since.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  return {
    said: texts.filter((text) => !text.startsWith('[outlast]')),
    told: texts.flatMap(
      (text) => /^\[outlast\] Task (ses_\w+) .*? answered(?: in its turn \d+)?:/.exec(text)?.[1] ?? [],
    ),
    // That of a relay ended the turn before.
    results: since
      .flatMap((message) => (message.role === 'tool' ? message.results : []))
      .filter(({ tool }) => tool !== 'relay'),
  };
}

/** What comes is relayed, and goes before what is said: nothing of it may be left out. */
function talk(request: ModelRequest): ModelReply {
  const { said, told, results } = news(request);
  // It goes on talking while they work: what comes meanwhile has to wait.
  if (results.some(({ tool }) => tool === 'start_task')) return calls(['list_tasks', {}]);
  if (told.length > 0) return calls(...told.map((task) => ['relay', { task }] as const));
  if (results.length > 0) return say(report(results));
  if (said.includes('both'))
    return calls(
      ['start_task', { task: 'the rent', title: 'the rent', keep_open: false }],
      ['start_task', { task: 'the letters', title: 'the letters', keep_open: true }],
    );
  // Somebody else has said something that asks for nothing.
  if (!said.includes('more letters')) return say('noted');
  const tail = request.messages.at(-1);
  const [, letters = ''] = /- (ses_\w+) "the letters"/.exec(tail?.role === 'user' ? tail.text : '') ?? [];
  return calls(['tell_task', { task: letters, message: 'once more' }]);
}

function work(request: ModelRequest): ModelReply {
  const { instructions, results } = read(request);
  if (results.length > 0) return say(report(results));
  if (instructions.length > 1) return calls(['mail', { what: 'again' }]);
  const [task = ''] = instructions;
  if (task === 'the rent') return calls(['pay', { what: 'rent' }]);
  // A task has children of its own, as any session.
  return task === 'the letters'
    ? calls(['delegate', { task: 'the stamps' }])
    : calls(['book', { what: 'stamps' }]);
}

export const TALKS: readonly Scenario[] = [
  {
    name: 'a conversation, two tasks beside it, and one more instruction for one of them',
    isTalk: true,
    hasChildren: true,
    tools: DELEGATION,
    modes: ['crash', 'again', 'freeze', 'contend', 'overtake', 'outage'],
    acts: [
      { do: 'start', text: 'both' },
      { do: 'wait', ms: 1_200_000 },
      { do: 'send', text: 'more letters' },
    ],
    wanted: { 'pay: rent': 1, 'book: stamps': 1, 'mail: again': 1 },
    limits: { heapMb: 8, crashes: 30 },
    sweepMs: 600_000,
    reply: (request) =>
      request.tools.some(({ name }) => name === 'start_task') ? talk(request) : work(request),
  },
];
