/** `outlast budget`: what the owner, or one session, may use and has used; and how that is changed. */

import type { Client } from '../../client/client.ts';
import { amountInWords, budgetInWords, WHATS } from '../../core/budget/budget.ts';
import { given } from '../../lib/given.ts';
import { EXIT, UsageError } from '../exit.ts';
import { coloured, facts } from '../layout.ts';
import { parseChange } from '../limits.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { clean, type Terminal } from '../terminal.ts';
import { text, type Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which, limits], options, terminal }) => {
  const outlast = reach(options);
  const owner = text(options.ownerSet);
  if (which?.includes('=') || (which === undefined && options.turn !== undefined)) {
    throw new UsageError(
      'These limits need a session.',
      `${COMMAND} budget last usd=5; of all your sessions: --owner-set usd=5`,
    );
  }
  if (which === undefined) {
    await ofOwner(outlast, owner, terminal);
    return EXIT.ok;
  }
  if (owner !== undefined) {
    throw new UsageError(
      'The owner has one budget, whatever the session.',
      `${COMMAND} budget --owner-set usd=20`,
    );
  }
  const turn = text(options.turn);
  const changes = given({
    session: limits === undefined ? undefined : parseChange(limits),
    turn: turn === undefined ? undefined : parseChange(turn),
  });
  const session = await whichSession(outlast, which);
  if (Object.keys(changes).length > 0) await outlast.setBudget(session, changes);
  const { phase, reason, budget } = await outlast.inspect(session);
  const { paint } = terminal;
  const lines = facts(
    [
      ['session', budgetInWords(budget.session)],
      ['each turn', budgetInWords(budget.turn)],
      ['spent', budget.words],
    ],
    paint,
  );
  for (const line of [`${session} ${coloured(phase, paint)}`, ...lines]) terminal.say(line);
  if (reason !== null) terminal.say(paint.yellow(clean(reason)));
  terminal.result({ session, phase, reason, budget });
  return EXIT.ok;
};

async function ofOwner(outlast: Client, change: string | undefined, terminal: Terminal): Promise<void> {
  const limits = change === 'none' ? null : change === undefined ? undefined : parseChange(change);
  const seen = limits === undefined ? await outlast.ownerBudget() : await outlast.setOwnerBudget(limits);
  const held = WHATS.filter((what) => seen.held[what] > 0).map((what) =>
    amountInWords(what, seen.held[what]),
  );
  const lines = facts(
    [
      ['all your sessions', budgetInWords(seen.limits)],
      ['spent', seen.words],
      ['held', held.length === 0 ? null : `${held.join(', ')}, for calls under way or without an end`],
    ],
    terminal.paint,
  );
  for (const line of lines) terminal.say(line);
  terminal.result(seen);
}
