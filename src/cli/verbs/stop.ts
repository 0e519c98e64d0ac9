/** `outlast stop`: the session ends. When it says `stopped`, the live resources are gone; the log stays. */

import { childrenInWords } from '../children.ts';
import { EXIT } from '../exit.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const { dim, yellow } = terminal.paint;
  const outlast = reach(options);
  const answer = await outlast.stop(await whichSession(outlast, which));
  const { session, status, unknown, children } = answer;
  if (status === 'stopped')
    terminal.say(`${session} stopped ${dim(`(open it again: ${COMMAND} reopen ${session})`)}`);
  else terminal.say(yellow(`${session} is still stopping; look again: ${COMMAND} inspect ${session}`));
  if (unknown.length > 0) terminal.say(yellow(`  outcome unknown: ${unknown.join(', ')}`));
  if (children.length > 0) terminal.say(dim(`  with it: ${childrenInWords(children)}`));
  terminal.result(answer);
  return status === 'stopped' ? EXIT.ok : EXIT.failed;
};
