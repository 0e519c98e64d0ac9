/** `outlast delete`: a session that is over goes for good, with its children. What stays is a tombstone. */

import { createInterface } from 'node:readline/promises';
import { estateInWords } from '../../core/retention/gone.ts';
import { EXIT, UsageError } from '../exit.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { clean } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const { dim, yellow } = terminal.paint;
  const outlast = reach(options);
  const id = await whichSession(outlast, which);
  if (options.yes !== true) {
    const { title } = await outlast.inspect(id);
    if (!terminal.isInteractive || terminal.json)
      throw new UsageError(
        'Nothing brings back what is deleted.',
        `say that you mean it: ${COMMAND} delete ${id} --yes`,
      );
    if (!(await confirmed(`Delete ${id} ("${clean(title)}") for good? [y/N] `))) {
      terminal.say(dim('nothing was deleted'));
      return EXIT.failed;
    }
  }
  const answer = await outlast.delete(id);
  const { had } = answer;
  if (had !== null) terminal.say(`${id} deleted ${dim(estateInWords(had))}`);
  else terminal.say(yellow(`${id} is still being deleted; look again: ${COMMAND} inspect ${id}`));
  terminal.result(answer);
  return had !== null ? EXIT.ok : EXIT.failed;
};

async function confirmed(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}
