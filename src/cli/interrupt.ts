/** `outlast interrupt`: the running turn ends, and the session stays. */

import { EXIT } from './exit.ts';
import { coloured } from './layout.ts';
import { reach } from './reach.ts';
import type { Verb } from './verb.ts';
import { whichSession } from './which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const outlast = reach(options);
  const answer = await outlast.interrupt(await whichSession(outlast, which));
  terminal.say(`${answer.session} ${coloured(answer.phase, terminal.paint)}`);
  terminal.result(answer);
  return EXIT.ok;
};
