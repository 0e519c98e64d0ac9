/** `outlast send`: a message to a session, whatever it is doing; watched until it rests. */

import type { When } from '../../core/message.ts';
import type { Residency } from '../../core/residency/policy.ts';
import { given } from '../../lib/given.ts';
import { EXIT, UsageError } from '../exit.ts';
import { imagesOf, wordsOf } from '../message.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { text, type Verb } from '../verb.ts';
import { watch } from '../watch.ts';
import { whichSession } from '../which.ts';

const wokeFrom = (woke: Residency | undefined): string =>
  woke === undefined || woke === 'resident' ? '' : `; it was ${woke}`;

const WHENS: readonly string[] = ['next', 'later', 'now'] satisfies When[];

export const run: Verb = async ({ args: [which = '', ...words], options, terminal }) => {
  const message = await wordsOf(words);
  const when = text(options.when) ?? 'next';
  if (message.trim() === '')
    throw new UsageError('The message is empty.', `${COMMAND} send ${which} "what to say"`);
  if (!WHENS.includes(when))
    throw new UsageError(`--when ${when} is not known.`, `use one of ${WHENS.join(', ')}`);
  const images = await imagesOf(options);
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const receipt = await outlast.send(session, message, {
    when: when as When,
    images,
    ...given({ key: text(options.key) }),
  });
  const headline = `${terminal.paint.bold(receipt.message)} ${terminal.paint.dim(receipt.rule + wokeFrom(receipt.woke))}`;
  if (options.detach !== true) {
    return watch(outlast, { session, after: receipt.seq, headline, receipt }, terminal);
  }
  terminal.say(headline);
  terminal.result({ session, ...receipt });
  return EXIT.ok;
};
