/**
 * A conversation and its tasks: what comes of them, and what they are to lose, is told, each once, whenever the machine
 * dies.
 */

import type { ModelRequest } from '../../../core/message.ts';
import type { ModelReply } from '../../../models/port.ts';
import { DELEGATION } from '../../../tools/delegate/delegate.ts';
import { calls, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

const HOUR = 3_600_000;

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

/** Everything that the runtime has told it so far. */
const toldOf = ({ messages }: ModelRequest, what: RegExp): number =>
  messages.filter((message) => message.role === 'user' && what.test(message.text)).length;

const NOTICE = /^\[outlast\] Task ses_\w+ .* is to be given up/;
const GONE = /^\[outlast\] Task ses_\w+ .* has lost what was to be given up/;

/** It keeps what its task holds, once. */
function keep(request: ModelRequest): ModelReply {
  const { said, results } = news(request);
  const [task] = news(request).told;
  if (task) return calls(['relay', { task }]);
  if (said.includes('load')) return calls(['start_task', { task: 'load', title: 'load', keep_open: true }]);
  if (results.length > 0) return say(report(results));
  const [notices, gone] = [toldOf(request, NOTICE), toldOf(request, GONE)];
  if (gone > 0 || notices > 1) return say(`${notices} notices, ${gone} gone`);
  const [, loaded = ''] =
    request.messages
      .flatMap((message) =>
        message.role === 'user' ? [/Task (ses_\w+) .* is to be/.exec(message.text)] : [],
      )
      .find((found) => found !== null) ?? [];
  return calls(['tell_task', { task: loaded, message: 'keep it' }]);
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
  {
    // A word keeps what is to be given up, for as long as nobody has spoken again; then it goes.
    name: 'a task of a conversation with a kernel that is to be given up',
    isTalk: true,
    hasChildren: true,
    hasKernels: true,
    modes: ['crash', 'again', 'freeze', 'contend', 'overtake', 'outage'],
    acts: [
      { do: 'start', text: 'load' },
      { do: 'wait', ms: 2.5 * HOUR },
    ],
    wanted: {},
    says: '2 notices, 1 gone',
    limits: { heapMb: 8, crashes: 30, kernelNoticeMs: HOUR },
    sweepMs: 600_000,
    reply(request) {
      if (request.tools.some(({ name }) => name === 'start_task')) return keep(request);
      const { instructions, results } = read(request);
      return instructions.length > 1 || results.length > 0 ? say('loaded') : calls(['python', {}]);
    },
  },
];
