/** `outlast ask`: a question about the work; the task does not notice. */

import { EXIT, UsageError } from '../exit.ts';
import { wordsOf } from '../message.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { clean } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = '', ...words], options, terminal }) => {
  const question = await wordsOf(words);
  if (question.trim() === '')
    throw new UsageError('The question is empty.', `${COMMAND} ask ${which} "how far are you?"`);
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const asked = await outlast.ask(session, question);
  terminal.say(clean(asked.answer));
  terminal.say(terminal.paint.dim(`${asked.model}, as of event ${asked.asOf}; the task itself is as it was`));
  terminal.result({ session, ...asked });
  return EXIT.ok;
};
