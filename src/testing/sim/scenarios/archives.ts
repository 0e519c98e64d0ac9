/** What nobody came back to for days: parked, archived, and woken by a follow-up or by an answer. */

import { TUNABLES } from '../../../core/residency/policy.ts';
import { cells } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

const DAY = 24 * 3_600_000;
const ARCHIVED = TUNABLES.archiveMs.usual + DAY;

export const ARCHIVES: readonly Scenario[] = [
  {
    name: 'archived and woken',
    modes: ['crash', 'contend', 'send', 'fork'],
    sweepMs: 2 * DAY,
    acts: [
      { do: 'start', text: 'load' },
      { do: 'send', text: 'more' },
      { do: 'wait', ms: ARCHIVED },
      { do: 'send', text: 'what is it', woke: 'archived' },
    ],
    wanted: { 'pay: once': 1, 'mail: sum': 1 },
    says: 'still 42 and 3',
    reply: cells([
      [
        `class Secret { #v = 41; next() { return ++this.#v; } }
         const secret = new Secret(); await tools.pay({ what: 'once' }); 'ok'`,
        'let n = 1; n',
      ],
      ['n += 1; n', 'n += 1; n'],
      [`await tools.mail({ what: 'sum' }); 'still ' + secret.next() + ' and ' + n`],
    ]),
  },
  {
    name: 'archived in the middle of a cell',
    // An interruption of a frozen machine would be applied late: inputs need no lease.
    modes: ['crash', 'send'],
    sweepMs: 2 * DAY,
    acts: [
      // The heap is a single image when it is archived, and goes on from there.
      { do: 'start', text: 'ask', leavesOpen: true },
      { do: 'wait', ms: ARCHIVED },
      { do: 'rest' },
      { do: 'send', text: 'ask again', leavesOpen: true },
      { do: 'wait', ms: ARCHIVED },
      // What that cell has done is taken back: the heap from before it.
      { do: 'interrupt' },
      { do: 'send', text: 'what is it' },
    ],
    wanted: { 'pay: blue': 1 },
    answer: 'blue',
    says: 'n is 2',
    reply: cells([
      [
        `let n = 1; const { text } = await tools.ask_person({ question: 'which?' });
         await tools.pay({ what: text }); n += 1; n`,
      ],
      ["n = 50; await tools.ask_person({ question: 'still?' }); n"],
      ["'n is ' + n"],
    ]),
  },
];
