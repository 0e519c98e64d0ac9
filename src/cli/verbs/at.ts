/** `outlast at`: a session as it stood at an event. */

import { EXIT } from '../exit.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { type Verb, whole } from '../verb.ts';
import { whichSession } from '../which.ts';
import { show } from './inspect.ts';

export const run: Verb = async ({ args: [which = '', written = ''], options, terminal }) => {
  const at = whole('at', written, 1, 'name an event by its number');
  const outlast = reach(options);
  const seen = await outlast.inspect(await whichSession(outlast, which), { at });
  show(seen, terminal);
  terminal.say(
    terminal.paint.dim(`as it stood at event ${at}; go on from there: ${COMMAND} fork ${seen.id} --at ${at}`),
  );
  terminal.result(seen);
  return EXIT.ok;
};
