/** `outlast fork`: a new session on the past of another one. With a message it is watched until it rests. */

import { EXIT } from './exit.ts';
import { messageOf } from './message.ts';
import { COMMAND } from './name.ts';
import { reach } from './reach.ts';
import { seqOf } from './seq.ts';
import { text, type Verb } from './verb.ts';
import { conclude, outcomeOf, watchUntilRest } from './watch.ts';
import { whichSession } from './which.ts';

export const run: Verb = async ({ args: [which = '', ...words], options, terminal }) => {
  const { bold, dim } = terminal.paint;
  const place = text(options.at);
  const at = place === undefined ? undefined : seqOf('--at', place);
  const title = text(options.title);
  const key = text(options.key);
  const message = await messageOf(words);
  const outlast = reach(options);
  const forked = await outlast.fork(await whichSession(outlast, which), {
    ...(at === undefined ? {} : { at }),
    ...(title === undefined ? {} : { title }),
    ...(key === undefined ? {} : { key }),
    ...(message === '' ? {} : { message }),
  });
  const { session, from, rule } = forked;
  const headline = `${bold(session)} ${dim(`fork of ${from}: ${rule}`)}`;
  if (message === '' || options.detach === true) {
    terminal.say(headline);
    terminal.say(dim(`say something to it: ${COMMAND} send ${session} "…"`));
    terminal.result(forked);
    return EXIT.ok;
  }
  const watched = await watchUntilRest(outlast, session, forked.seq, terminal, headline);
  const code = conclude(watched, terminal);
  terminal.result({ ...forked, ...outcomeOf(watched) });
  return code;
};
