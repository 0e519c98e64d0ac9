/** `outlast resume`: a held or quarantined session goes on. */

import { EXIT } from './exit.ts';
import { coloured } from './layout.ts';
import { reach } from './reach.ts';
import type { Verb } from './verb.ts';
import { whichSession } from './which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const outlast = reach(options);
  const answer = await outlast.resume(await whichSession(outlast, which));
  terminal.say(`${answer.session} ${coloured(answer.phase, terminal.paint)}`);
  terminal.result(answer);
  return EXIT.ok;
};
