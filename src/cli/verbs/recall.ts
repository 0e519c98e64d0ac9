/** `outlast recall`: what the log of a session says, word for word, by words, by id, by kind and time. */

import { given } from '../../lib/given.ts';
import { oneLine } from '../../lib/text.ts';
import { type PassageKind, passageKind, type Recalled } from '../../protocol/schema.ts';
import { EXIT, UsageError } from '../exit.ts';
import { wordsOf } from '../message.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { clean, type Terminal } from '../terminal.ts';
import { text, type Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = '', ...rest], options, terminal }) => {
  const words = (await wordsOf(rest)).trim();
  const id = text(options.id);
  const [from, to] = [text(options.from), text(options.to)];
  if (id !== undefined && (words !== '' || options.kind !== undefined))
    throw new UsageError('An id stands alone.', `${COMMAND} recall ${which} --id "${id}"`);
  const query = given({
    id,
    words: words === '' ? undefined : words,
    kind: kindOf(text(options.kind)),
    from,
    to,
  });
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const recalled = await outlast.recall(session, query);
  show(recalled, terminal);
  terminal.result({ session, ...recalled });
  return EXIT.ok;
};

function kindOf(written: string | undefined): PassageKind | undefined {
  const found = passageKind.safeParse(written);
  if (written === undefined || found.success) return found.data;
  throw new UsageError(`There is no kind "${written}".`, `one of ${passageKind.options.join(', ')}`);
}

function show({ by, passages, older }: Recalled, { say, paint, width }: Terminal): void {
  if (passages.length === 0) say(paint.dim('Nothing of that is in its log.'));
  if (older > 0) say(paint.dim(`… ${older} older; name a time with --to …`));
  for (const { id, kind, at, standing, text: said } of passages) {
    const cited = `${paint.bold(id)} ${paint.dim(`${kind}, ${new Date(at).toISOString()}`)}`;
    const stands = standing === null ? '' : ` ${paint.yellow(standing)}`;
    if (by === 'time') say(`${cited}${stands} ${oneLine(clean(said), Math.max(20, width - 50))}`);
    else say(`${cited}${stands}\n${clean(said)}\n`);
  }
}
