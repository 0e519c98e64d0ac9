/** `outlast start`: a new session, watched until it rests. */

import { given } from '../../lib/given.ts';
import { EXIT, UsageError } from '../exit.ts';
import { parseBudget } from '../limits.ts';
import { imagesOf, wordsOf } from '../message.ts';
import { COMMAND } from '../name.ts';
import { placeOf } from '../place.ts';
import { reach } from '../reach.ts';
import { text, type Verb } from '../verb.ts';
import { watch } from '../watch.ts';

export const run: Verb = async ({ args, options, terminal }) => {
  const message = await wordsOf(args);
  const session = text(options.budget);
  const turn = text(options.turnBudget);
  if (message.trim() === '') throw new UsageError('There is nothing to do.', `${COMMAND} start "what to do"`);
  const budget = given({
    session: session === undefined ? undefined : parseBudget(session),
    turn: turn === undefined ? undefined : parseBudget(turn),
  });
  const images = await imagesOf(options);
  const outlast = reach(options);
  const started = await outlast.start({
    message,
    images,
    persist: options.persist === true,
    budget,
    ...given({
      title: text(options.title),
      key: text(options.key),
      workspace: placeOf(text(options.workspace)),
    }),
  });
  const { bold, dim } = terminal.paint;
  const headline = `${bold(started.session)} ${dim(`${started.message}: ${started.rule}`)}`;
  if (options.detach !== true) {
    const { session, seq: after } = started;
    return watch(outlast, { session, after, headline, receipt: started }, terminal);
  }
  terminal.say(headline);
  terminal.say(dim(`watch it: ${COMMAND} attach ${started.session}`));
  terminal.result(started);
  return EXIT.ok;
};
