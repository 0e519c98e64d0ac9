/** What is not in view any more, and is read again: by the handle in the place of a cut, and by words. */

import { calls, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

/** Too long for the view, with what matters in the middle. */
const LONG = `${'before it '.repeat(1_200)}CODE=blue ${'after it '.repeat(1_300)}`;

/** Of what came of a call: the one thing that is looked for in it. */
const found = (results: ReturnType<typeof read>['results'], at: number, what: RegExp): string | undefined =>
  what.exec(results[at]?.text ?? '')?.[1];

export const PAST: readonly Scenario[] = [
  {
    name: 'the past, recalled',
    acts: [
      { do: 'start', text: 'AB-77 is green. Look, and pay what its code says.' },
      { do: 'send', text: 'now in the colour of AB-77' },
      { do: 'send', text: 'AB-77 is red by now: once more' },
    ],
    wanted: { 'pay: blue': 1, 'pay: green': 1, 'pay: red': 1 },
    says: 'recall: done\npay: done',
    reply(request) {
      const { instructions, results } = read(request);
      if (instructions.length === 1) {
        if (results.length === 0) return calls(['look', { what: LONG }]);
        const [, id, offset] =
          /recall (#\d+) from offset (\d+) shows them/.exec(results[0]?.text ?? '') ?? [];
        if (id === undefined) return say('It is cut, and there is no handle.');
        if (results.length === 1) return calls(['recall', { id, offset: Number(offset) }]);
        const code = found(results, 1, /CODE=(\w+)/);
        if (code === undefined) return say('What was recalled lacks the code.');
        return results.length === 2 ? calls(['pay', { what: code }]) : say(report(results));
      }
      if (results.length === 0) return calls(['recall', { words: 'what is AB-77' }]);
      const last = [...(results[0]?.text ?? '').matchAll(/^AB-77 is (\w+)/gm)].at(-1)?.[1];
      if (last === undefined) return say('Nothing was recalled of AB-77.');
      return results.length === 1 ? calls(['pay', { what: last }]) : say(report(results));
    },
  },
];
