/**
 * `outlast attach`: the whole log, then live; every line that is typed is a message.
 *
 * Leaving (Ctrl-C, Ctrl-D) stops nothing. When lines come from a pipe, it leaves once they are sent and the session
 * rests.
 */

import { createInterface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import type { ExitCode } from '../exit.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { talk } from '../talk.ts';
import type { Terminal } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { watch } from '../watch.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  if (!terminal.isInteractive) return pipe(outlast, session, terminal);
  const goodbye = `Detached; the session goes on. Come back: ${COMMAND} attach ${session}`;
  const send = (line: string, key: string) => outlast.send(session, line, { key });
  return talk(outlast, { session: Promise.resolve(session), after: 0, send, goodbye }, terminal);
};

/** With a program: what it wrote, then what came of it. */
async function pipe(outlast: Client, session: string, terminal: Terminal): Promise<ExitCode> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== '') await outlast.send(session, line);
  }
  return watch(outlast, { session, after: 0 }, terminal);
}
