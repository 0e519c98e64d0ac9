/** `outlast start`: a new session, watched until it rests. */

import { parseBudget } from './amounts.ts';
import { EXIT, UsageError } from './exit.ts';
import { imagesOf } from './images.ts';
import { messageOf } from './message.ts';
import { COMMAND } from './name.ts';
import { reach } from './reach.ts';
import { text, type Verb } from './verb.ts';
import { conclude, outcomeOf, watchUntilRest } from './watch.ts';

export const run: Verb = async ({ args, options, terminal }) => {
  const message = await messageOf(args);
  const title = text(options.title);
  const key = text(options.key);
  const budget = text(options.budget);
  const turnBudget = text(options.turnBudget);
  if (message.trim() === '') throw new UsageError('There is nothing to do.', `${COMMAND} start "what to do"`);
  const limits = {
    ...(budget === undefined ? {} : { session: parseBudget(budget) }),
    ...(turnBudget === undefined ? {} : { turn: parseBudget(turnBudget) }),
  };
  const images = await imagesOf(options.image);
  const outlast = reach(options);
  const started = await outlast.start({
    message,
    persist: options.persist === true,
    budget: limits,
    ...(title === undefined ? {} : { title }),
    ...(key === undefined ? {} : { key }),
    ...images,
  });
  const { session, rule } = started;
  const headline = `${terminal.paint.bold(session)} ${terminal.paint.dim(`${started.message}: ${rule}`)}`;
  if (options.detach === true) {
    terminal.say(headline);
    terminal.say(terminal.paint.dim(`watch it: ${COMMAND} attach ${session}`));
    terminal.result(started);
    return EXIT.ok;
  }
  const watched = await watchUntilRest(outlast, session, started.seq, terminal, headline);
  const code = conclude(watched, terminal);
  terminal.result({ ...started, ...outcomeOf(watched) });
  return code;
};
