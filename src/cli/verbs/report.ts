/** `outlast report`: what became of each kind of state after the last loss, and how that is known. */

import { EXIT } from '../exit.ts';
import { reach } from '../reach.ts';
import { clean, type Paint } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const { bold, dim } = terminal.paint;
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const found = await outlast.report(session);
  const { losses, last, lines } = found;
  terminal.say(
    last === null
      ? dim('Nothing was ever lost. This is what there is:')
      : `${bold(losses === 1 ? 'Lost once.' : `Lost ${losses} times.`)} ${dim(
          `Taken over ${instant(last.at)}; the last event before was ${last.head}, ${instant(last.lastAt)}.`,
        )}`,
  );
  for (const { kind, fate, what, evidence } of lines) {
    const said = coloured(fate, terminal.paint)(fate.padEnd(FATE_WIDTH));
    terminal.say(`  ${said} ${dim(kind.padEnd(KIND_WIDTH))} ${clean(what)}${dim(`: ${clean(evidence)}`)}`);
  }
  terminal.result({ session, ...found });
  return EXIT.ok;
};

const FATE_WIDTH = 're-observed'.length;
const KIND_WIDTH = 'derived context'.length;

const instant = (at: number): string => new Date(at).toISOString();

function coloured(fate: string, paint: Paint): (text: string) => string {
  if (fate === 'lost') return paint.red;
  if (fate === 'unknown') return paint.yellow;
  return fate === 'survived' ? paint.green : paint.cyan;
}
