/** `outlast pause`, `resume`, `interrupt`, `reopen`: one call, and the phase that the session is in then. */

import { EXIT } from '../exit.ts';
import { coloured } from '../layout.ts';
import { reach } from '../reach.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const steer = (call: 'pause' | 'resume' | 'interrupt' | 'reopen'): { readonly run: Verb } => ({
  async run({ args: [which = ''], options, terminal }) {
    const outlast = reach(options);
    const answer = await outlast[call](await whichSession(outlast, which));
    terminal.say(`${answer.session} ${coloured(answer.phase, terminal.paint)}`);
    terminal.result(answer);
    return EXIT.ok;
  },
});
