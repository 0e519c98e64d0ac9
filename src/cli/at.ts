/** `outlast at`: a session as it stood at an event. */

import { EXIT } from './exit.ts';
import { show } from './inspect.ts';
import { COMMAND } from './name.ts';
import { reach } from './reach.ts';
import { seqOf } from './seq.ts';
import type { Verb } from './verb.ts';
import { whichSession } from './which.ts';

export const run: Verb = async ({ args: [which = '', written = ''], options, terminal }) => {
  const at = seqOf('at', written);
  const outlast = reach(options);
  const seen = await outlast.inspect(await whichSession(outlast, which), { at });
  show(seen, terminal);
  terminal.say(
    terminal.paint.dim(`as it stood at event ${at}; go on from there: ${COMMAND} fork ${seen.id} --at ${at}`),
  );
  terminal.result(seen);
  return EXIT.ok;
};
