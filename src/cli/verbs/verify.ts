/** `outlast verify`: is the log whole, and does replaying it give the very sandbox that is kept? Changes nothing. */

import { EXIT } from '../exit.ts';
import { reach } from '../reach.ts';
import { clean } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const { green, red, dim } = terminal.paint;
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const found = await outlast.verify(session);
  const { events, violations, moves, restores, identical, diverged, image, problem } = found;
  const isSound = violations.length === 0 && identical !== false && image !== 'damaged';
  const line = (good: boolean, words: string) => terminal.say(`${good ? green('✓') : red('✗')} ${words}`);

  line(violations.length === 0, `the log: ${events} events, ${violations.length} violations`);
  for (const { seq, invariant, detail } of violations)
    terminal.say(red(`    ${seq} ${invariant}: ${clean(detail)}`));
  if (identical === null) {
    terminal.say(dim('· no sandbox has run'));
  } else {
    line(
      identical,
      `the sandbox: ${moves} moves replayed, ${restores} restores, ${identical ? 'bit for bit the same' : 'not the same'}`,
    );
    line(image !== 'damaged', `the stored image: ${image}`);
  }
  if (diverged)
    terminal.say(
      red(`    differs first at event ${diverged.seq}: ${diverged.found}, not ${diverged.expected}`),
    );
  if (problem !== null) terminal.say(red(`    ${clean(problem)}`));
  terminal.result({ session, sound: isSound, ...found });
  return isSound ? EXIT.ok : EXIT.failed;
};
