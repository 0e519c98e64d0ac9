/** `outlast fork`: a new session on the past of another one. With a message it is watched until it rests. */

import { given } from '../../lib/given.ts';
import { EXIT } from '../exit.ts';
import { wordsOf } from '../message.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { text, type Verb, whole } from '../verb.ts';
import { watch } from '../watch.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = '', ...words], options, terminal }) => {
  const { bold, dim } = terminal.paint;
  const place = text(options.at);
  const at = place === undefined ? undefined : whole('--at', place, 1, 'name an event by its number');
  const message = (await wordsOf(words)) || undefined;
  const outlast = reach(options);
  const forked = await outlast.fork(
    await whichSession(outlast, which),
    given({ at, title: text(options.title), key: text(options.key), message }),
  );
  const { session, from, rule } = forked;
  const headline = `${bold(session)} ${dim(`fork of ${from}: ${rule}`)}`;
  if (message !== undefined && options.detach !== true) {
    return watch(outlast, { session, after: forked.seq, headline, receipt: forked }, terminal);
  }
  terminal.say(headline);
  terminal.say(dim(`say something to it: ${COMMAND} send ${session} "…"`));
  terminal.result(forked);
  return EXIT.ok;
};
