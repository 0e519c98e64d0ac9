/** `outlast send`: a message to a session, whatever it is doing; watched until it rests. */

import type { When } from '../core/message.ts';
import { EXIT, UsageError } from './exit.ts';
import { imagesOf } from './images.ts';
import { messageOf } from './message.ts';
import { COMMAND } from './name.ts';
import { reach } from './reach.ts';
import { text, type Verb } from './verb.ts';
import { conclude, outcomeOf, watchUntilRest } from './watch.ts';
import { whichSession } from './which.ts';

const WHENS: readonly string[] = ['next', 'later', 'now'] satisfies When[];

export const run: Verb = async ({ args: [which = '', ...words], options, terminal }) => {
  const message = await messageOf(words);
  const when = text(options.when) ?? 'next';
  const key = text(options.key);
  if (message.trim() === '')
    throw new UsageError('The message is empty.', `${COMMAND} send ${which} "what to say"`);
  if (!WHENS.includes(when))
    throw new UsageError(`--when ${when} is not known.`, `use one of ${WHENS.join(', ')}`);
  const images = await imagesOf(options.image);
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const receipt = await outlast.send(session, message, {
    when: when as When,
    ...(key === undefined ? {} : { key }),
    ...images,
  });
  const headline = `${terminal.paint.bold(receipt.message)} ${terminal.paint.dim(receipt.rule)}`;
  if (options.detach === true) {
    terminal.say(headline);
    terminal.result({ session, ...receipt });
    return EXIT.ok;
  }
  const watched = await watchUntilRest(outlast, session, receipt.seq, terminal, headline);
  const code = conclude(watched, terminal);
  terminal.result({ ...receipt, ...outcomeOf(watched) });
  return code;
};
