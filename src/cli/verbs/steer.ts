/** `outlast pause`, `resume`, `interrupt`, `reopen`: one call, and the phase that the session is in then. */

import { childrenInWords } from '../children.ts';
import { EXIT } from '../exit.ts';
import { coloured } from '../layout.ts';
import { reach } from '../reach.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

/** What each of them means for children. */
const REACH = {
  pause: 'paused with it',
  resume: 'what was paused with it goes on',
  interrupt: 'these go on',
  reopen: 'these it can go on with',
} as const;

export const steer = (call: 'pause' | 'resume' | 'interrupt' | 'reopen'): { readonly run: Verb } => ({
  async run({ args: [which = ''], options, terminal }) {
    const outlast = reach(options);
    const answer = await outlast[call](await whichSession(outlast, which));
    terminal.say(`${answer.session} ${coloured(answer.phase, terminal.paint)}`);
    const { children } = await outlast.inspect(answer.session);
    const held = children.filter(({ phase }) => phase !== 'stopped');
    if (held.length > 0) terminal.say(terminal.paint.dim(`  ${REACH[call]}: ${childrenInWords(held)}`));
    terminal.result(answer);
    return EXIT.ok;
  },
});
