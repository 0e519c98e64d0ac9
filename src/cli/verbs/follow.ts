/** `outlast follow`: the log from an offset, live, until the session ends. Reads only. */

import type { Client } from '../../client/client.ts';
import { OutlastError } from '../../core/error.ts';
import { systemClock } from '../../lib/clock.ts';
import { EXIT } from '../exit.ts';
import { COMMAND } from '../name.ts';
import { narrator } from '../narrate.ts';
import { reach } from '../reach.ts';
import { text, type Verb, whole } from '../verb.ts';
import { patience } from '../watch.ts';
import { whichSession } from '../which.ts';

/** Between two looks for a server that is not there. */
const PAUSE_MS = 300;
const ENDED: readonly string[] = ['stopped', 'completed'];
/** Events after which a session may be over. */
const LAST_ONES: readonly string[] = ['session.stopped', 'response.surfaced'];

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  let after = whole('--after', text(options.after) ?? '0', 0, 'use --after 0 for all');
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const { tell } = narrator(session, terminal.paint, terminal.width);
  const leave = leaveOnSignal();
  const { phase, head } = await outlast.inspect(session);
  let end = ENDED.includes(phase) ? head : null;
  const events = outlast.follow(session, { after, signal: leave, ...patience(terminal, Infinity) });
  while (after !== end) {
    const { done, value } = await events.next();
    if (done) break;
    if (value.kind === 'whisper') continue;
    if (terminal.json) terminal.data(value);
    else for (const line of tell(value)) terminal.say(line);
    after = value.seq;
    if (value.kind === 'session.deleted') end = after;
    if (after >= head && LAST_ONES.includes(value.kind)) end = await endOf(outlast, session, leave);
  }
  await events.return();
  if (leave.aborted) {
    terminal.say(terminal.paint.dim(`go on with: ${COMMAND} follow ${session} --after ${after}`));
  }
  terminal.result({ session, after, ended: after === end });
  return EXIT.ok;
};

/** The number of the last event, once the session is over; null while it is not. As patient as the following itself. */
async function endOf(outlast: Client, session: string, leave: AbortSignal): Promise<number | null> {
  while (!leave.aborted) {
    try {
      const { phase, head } = await outlast.inspect(session);
      return ENDED.includes(phase) ? head : null;
    } catch (error) {
      if (!(error instanceof OutlastError) || error.code !== 'server.unreachable') throw error;
      await systemClock.sleep(PAUSE_MS, leave);
    }
  }
  return null;
}

function leaveOnSignal(): AbortSignal {
  const leave = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leave.abort());
  return leave.signal;
}
