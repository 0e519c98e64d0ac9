/** `outlast slots`: how many of your sessions may work at once, how many do, who waits; and how that is changed. */

import { EXIT } from '../exit.ts';
import { facts } from '../layout.ts';
import { reach } from '../reach.ts';
import { type Verb, whole } from '../verb.ts';

export const run: Verb = async ({ args: [wanted], options, terminal }) => {
  const number = wanted === 'default' ? null : wanted;
  const outlast = reach(options);
  const seen =
    number === undefined
      ? await outlast.slots()
      : await outlast.setSlots(
          number === null ? null : whole('slots', number, 1, 'use a number, or: default'),
        );
  const lines = facts(
    [
      ['slots', `${seen.slots}${seen.isOwn ? '' : ' (of the server)'}`],
      ['working', String(seen.working)],
      ['waiting', String(seen.waiting)],
    ],
    terminal.paint,
  );
  for (const line of lines) terminal.say(line);
  terminal.result(seen);
  return EXIT.ok;
};
