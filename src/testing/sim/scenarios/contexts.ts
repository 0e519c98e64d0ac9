/** Work that is longer than the model's view: what has left it is known by what stands in its place. */

import type { ModelRequest } from '../../../core/message.ts';
import type { ModelReply } from '../../../models/port.ts';
import { allResults, calls, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

/** Of a step: so much that two of them are too many. */
const THOUGHT = 'so much to think of '.repeat(220);

/** Longer than what stays of one that is answered. */
const ORDER =
  'pay, mail and book once each, one after the other, and think about each of them as long as it takes';

const STEPS = ['pay', 'mail', 'book'] as const;

const textOf = ({ messages }: ModelRequest): string =>
  messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).join('\n');

/** What became of it, by the results that stand in the view or by the ledger in the compacted past; null if it was not asked for. */
const became = (request: ModelRequest, service: string): string | null =>
  allResults(request).findLast(({ tool }) => tool === service)?.status ?? settled(request, service);

/** By the ledger in the compacted past alone. */
const settled = (request: ModelRequest, service: string): string | null =>
  new RegExp(`e\\d+ ${service} to .* is (\\w+)`).exec(textOf(request))?.[1] ?? null;

/** Asks for it, after so many characters of thought. */
function thought(service: string, chars: number): ModelReply {
  const asked = calls([service, { what: 'a' }]);
  return { ...asked, parts: [{ type: 'text', text: THOUGHT.repeat(3).slice(0, chars) }, ...asked.parts] };
}

function lines({ messages }: ModelRequest): ModelReply {
  const asked = messages.at(-1);
  const text = asked?.role === 'user' ? asked.text : '';
  // Once it names what is not there; told so, it does better.
  if (!text.includes('could not be used')) return say('fact: something was done [#99999]');
  const entries = [...text.matchAll(/^#(\d+) (.{1,60})/gm)];
  return say(entries.map(([, seq, entry]) => `fact: ${entry} [#${seq}]`).join('\n'));
}

export const CONTEXTS: readonly Scenario[] = [
  {
    name: 'work that is longer than the view',
    limits: { contextTokens: 6_500 },
    acts: [
      { do: 'start', text: 'always say what was done' },
      { do: 'send', text: ORDER },
    ],
    wanted: { 'pay: a': 1, 'mail: a': 1, 'book: a': 1 },
    says: 'book: done',
    reply(request) {
      if (request.isCompaction) return lines(request);
      if (!textOf(request).includes(ORDER.slice(0, 40))) return say('nothing yet');
      const next = STEPS.find((service) => became(request, service) === null);
      if (next === undefined)
        return say(STEPS.map((service) => `${service}: ${became(request, service)}`).join('\n'));
      const asked = calls([next, { what: 'a' }]);
      return { ...asked, parts: [{ type: 'text', text: `${next} ${THOUGHT}` }, ...asked.parts] };
    },
  },
  {
    // Two steps of very different size: the second one makes more of the view than the provider takes.
    name: 'work that is longer than the window',
    limits: { windowTokens: 9_000 },
    acts: [{ do: 'start', text: 'pay, then mail' }],
    wanted: { 'pay: a': 1, 'mail: a': 1 },
    says: 'by the ledger: pay done',
    reply(request) {
      if (request.isCompaction) return lines(request);
      if (became(request, 'pay') === null) return thought('pay', 3_600);
      if (became(request, 'mail') === null) return thought('mail', 8_000);
      return say(`by the ledger: pay ${settled(request, 'pay')}`);
    },
  },
  {
    name: 'work that is taken up again after a long wait',
    limits: { contextTokens: 9_000 },
    sweepMs: 3_600_000,
    // Where the clock is put back there was no long wait, and the result still stands in the view.
    except: ['back'],
    acts: [
      { do: 'start', text: 'pay a' },
      { do: 'wait', ms: 7_200_000 },
      { do: 'send', text: 'and mail a' },
    ],
    wanted: { 'pay: a': 1, 'mail: a': 1 },
    says: 'by the ledger: pay done',
    reply(request) {
      if (request.isCompaction) return lines(request);
      if (became(request, 'pay') === null) return thought('pay', 8_000);
      if (!textOf(request).includes('and mail a')) return say('paid');
      if (became(request, 'mail') === null) return thought('mail', 10);
      return say(`by the ledger: pay ${settled(request, 'pay')}`);
    },
  },
];
