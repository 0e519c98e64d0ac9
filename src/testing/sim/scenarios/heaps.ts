/** What code keeps: variables, open promises, and heaps that come back. */

import { TUNABLES } from '../../../core/residency/policy.ts';
import { cell, cells, endOfCell, read, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

/** Code that is aborted, for its output. */
const ON_AND_ON = "for (;;) console.log('on and on '.repeat(1_000));";

/** Something is kept, the memory goes, and it is asked for. */
const REMEMBERED = {
  acts: [
    { do: 'start', text: 'remember' },
    { do: 'stop' },
    { do: 'reopen' },
    { do: 'send', text: 'what was it' },
  ],
  wanted: { 'pay: once': 1 },
  says: 'it was 42',
} as const;

export const HEAPS: readonly Scenario[] = [
  {
    name: 'two cells in one heap',
    acts: [
      { do: 'start', text: 'ask from code', leavesOpen: true },
      { do: 'send', text: 'ask something else from code', when: 'now' },
    ],
    wanted: { 'book: blue first': 1, 'pay: blue second': 1, 'pay: again': 1 },
    answer: 'blue',
    says: 'second blue',
    reply(request) {
      const { instructions, results } = read(request);
      const which = instructions.length === 1 ? 'first' : 'second';
      const service = which === 'first' ? 'book' : 'pay';
      const ended = endOfCell(request);
      const done = results.find(({ text }) => text.includes('second blue'));
      if (done) return say(done.text);
      if (ended !== null && which === 'first') return say(ended);
      if (results.length > 0) return say(results[0]?.text ?? '');
      return cell(`const ${which} = await tools.ask_person({ question: '${which}?' });
        await tools.${service}({ what: ${which}.text + ' ${which}' });
        ${which === 'second' ? "await tools.pay({ what: 'again' });" : ''} '${which} ' + ${which}.text`);
    },
  },
  {
    name: 'stop and reopen',
    ...REMEMBERED,
    reply: cells([
      [
        `class Secret { #v = 42; get v() { return this.#v; } }
         const secret = new Secret(); await tools.pay({ what: 'once' }); 'ok'`,
      ],
      ["'it was ' + secret.v"],
    ]),
  },
  {
    name: 'an image in place of another',
    modes: ['crash', 'freeze'],
    rots: true,
    ...REMEMBERED,
    reply: cells([
      ["let kept = 40; await tools.pay({ what: 'once' }); kept += 1; kept", 'kept += 1; kept'],
      ["'it was ' + kept"],
    ]),
  },
  {
    name: 'a cell that is taken back',
    modes: ['crash', 'contend', 'pause'],
    acts: [{ do: 'start', text: 'work' }],
    wanted: { 'pay: while it ran': 1 },
    says: 'n is 1',
    reply: cells([
      [
        'let n = 1; n',
        `n = 2; await tools.pay({ what: 'while it ran' }); n = 3; ${ON_AND_ON}`,
        "'n is ' + n",
      ],
    ]),
  },
  {
    name: 'code in the background that runs away',
    modes: ['crash', 'contend', 'pause'],
    acts: [
      { do: 'start', text: 'arm' },
      { do: 'send', text: 'what is it now' },
    ],
    wanted: { 'pay: behind': 1 },
    says: 'n is 1',
    reply: cells([
      [`let n = 1; tools.pay({ what: 'behind' }).then(() => { n = 2; ${ON_AND_ON} }); 'armed'`],
      ["'n is ' + n"],
    ]),
  },
  {
    name: 'parked and woken',
    acts: [
      { do: 'start', text: 'load' },
      { do: 'send', text: 'more' },
      { do: 'wait', ms: TUNABLES.parkMs.most / 4 },
      { do: 'send', text: 'use' },
    ],
    wanted: { 'pay: rows': 1, 'mail: sum': 1 },
    says: 'still 42 of 5200',
    reply: cells([
      // Small first, and much in the last move: that outgrows the base, and a new one is taken at rest.
      [
        `function* g() { yield 41; yield 42; } const it = g(); it.next().value`,
        `await tools.pay({ what: 'rows' });
           const rows = Array.from({ length: 5_000 }, Math.random); rows.length`,
      ],
      // Too little for a new base at rest, enough for one when it is parked.
      ['rows.push(...Array.from({ length: 200 }, Math.random)); rows.length'],
      [`await tools.mail({ what: 'sum' }); 'still ' + it.next().value + ' of ' + rows.length`],
    ]),
  },
  {
    name: 'a cell over several awaits',
    // The code reads the answer of the service; a person's word for it is not that.
    except: ['down'],
    acts: [
      { do: 'start', text: 'work' },
      { do: 'send', text: 'again' },
    ],
    wanted: { 'pay: 1': 1, 'mail: 2': 1, 'pay: 3': 1 },
    says: 'kept: 111',
    reply(request) {
      const { instructions, results } = read(request);
      if (instructions.length === 1) {
        if (results.length === 0) {
          return cell(`let kept = 1; const rows = [];
            rows.push((await tools.look({ what: 'a' })).ok);
            kept += (await tools.pay({ what: '1' })).ok ? 10 : 0;
            await new Promise((done) => setTimeout(done, 5_000));
            kept += (await tools.mail({ what: '2' })).ok ? 100 : 0;
            kept`);
        }
        return say(`first: ${results[0]?.text}`);
      }
      if (results.length === 0) {
        return cell(`const [p, l] = await Promise.all([tools.pay({ what: '3' }), tools.look({ what: 'b' })]);
          'kept: ' + kept + ', ' + rows.length + p.ok + l.ok`);
      }
      return say(results[0]?.text ?? '');
    },
  },
];
