/**
 * `outlast attach`: the whole log, then live; every line that is typed is a message.
 *
 * Leaving (Ctrl-C, Ctrl-D) stops nothing. When lines come from a pipe, it leaves once they are sent and the session
 * rests.
 */

import { randomUUID } from 'node:crypto';
import { createInterface, type Interface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { COMMAND } from '../name.ts';
import { narrator } from '../narrate.ts';
import { reach } from '../reach.ts';
import type { Terminal } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { patience, watch } from '../watch.ts';
import { whichSession } from '../which.ts';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const attached = terminal.isInteractive ? converse : pipe;
  return attached(outlast, session, terminal);
};

/** With a person: lines in, lines out, at the same time. */
async function converse(outlast: Client, session: string, terminal: Terminal): Promise<ExitCode> {
  const { dim, red } = terminal.paint;
  const leave = new AbortController();
  const own = new Set<string>();
  const typed = createInterface({ input: process.stdin, output: process.stdout, prompt: dim('› ') });
  const say = (line: string) => above(typed, () => terminal.say(line));
  typed.on('SIGINT', () => leave.abort());
  typed.on('close', () => leave.abort());
  typed.on('line', (line) => {
    typed.prompt();
    if (line.trim() === '') return;
    const key = randomUUID();
    own.add(key);
    outlast.send(session, line, { key }).then(
      ({ message, rule }) => say(dim(`  ${message}: ${rule}`)),
      (error: Error & { next?: string }) => say(`${red(error.message)} ${dim(`→ ${error.next ?? ''}`)}`),
    );
  });
  typed.prompt();
  const { tell } = narrator(session, terminal.paint, terminal.width);
  const options = {
    after: 0,
    signal: leave.signal,
    ...patience({ ...terminal, say: (line = '') => say(line) }, Infinity),
  };
  for await (const event of outlast.follow(session, options)) {
    if (event.kind === 'whisper') continue;
    // What was typed here stands on the screen already.
    if (event.kind === 'message.accepted' && event.key !== null && own.has(event.key)) continue;
    for (const line of tell(event)) say(line);
  }
  typed.close();
  terminal.say(dim(`\nDetached; the session goes on. Come back: ${COMMAND} attach ${session}`));
  return EXIT.ok;
}

/** With a program: what it wrote, then what came of it. */
async function pipe(outlast: Client, session: string, terminal: Terminal): Promise<ExitCode> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== '') await outlast.send(session, line);
  }
  return watch(outlast, { session, after: 0 }, terminal);
}

/** Writes a line above the one that is being typed. */
function above(typed: Interface, write: () => void): void {
  process.stdout.write('\r\u001b[K');
  write();
  typed.prompt(true);
}
