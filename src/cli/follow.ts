/** `outlast follow`: the log from an offset, live, until the session ends. Reads only. */

import { EXIT, UsageError } from './exit.ts';
import { COMMAND } from './name.ts';
import { narrator } from './narrate.ts';
import { reach } from './reach.ts';
import { text, type Verb } from './verb.ts';
import { patience } from './watch.ts';
import { whichSession } from './which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const from = Number(text(options.after) ?? '0');
  if (!Number.isSafeInteger(from))
    throw new UsageError('--after takes the number of an event.', 'use --after 0 for all');
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const { tell } = narrator(session, terminal.paint, terminal.width);
  const leave = new AbortController();
  const detach = () => leave.abort();
  process.once('SIGINT', detach);
  process.once('SIGTERM', detach);
  // Where the log ends now: a session that is over by then has nothing more to tell.
  const seen = await outlast.inspect(session);
  let after = from;
  let isOver = ENDED.includes(seen.phase) && after >= seen.head;
  const events = outlast.follow(session, { after, signal: leave.signal, ...patience(terminal, Infinity) });
  while (!isOver) {
    const { done, value } = await events.next();
    if (done) break;
    if (value.kind === 'whisper') continue;
    if (terminal.json) terminal.data(value);
    else for (const line of tell(value)) terminal.say(line);
    after = value.seq;
    if (after >= seen.head && MAY_END.includes(value.kind)) isOver = await ended(after);
    if (after === seen.head) isOver ||= await ended(after);
  }
  await events.return();
  if (leave.signal.aborted) {
    terminal.say(terminal.paint.dim(`go on with: ${COMMAND} follow ${session} --after ${after}`));
  }
  terminal.result({ session, after, ended: isOver });
  return EXIT.ok;

  async function ended(at: number): Promise<boolean> {
    const { phase, head } = await outlast.inspect(session);
    return ENDED.includes(phase) && head <= at;
  }
};

const ENDED: readonly string[] = ['stopped', 'completed'];
const MAY_END: readonly string[] = ['session.stopped', 'response.surfaced'];
