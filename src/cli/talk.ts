/** A person at a session: lines in, lines out, at the same time. Leaving (Ctrl-C, Ctrl-D) stops nothing. */

import { randomUUID } from 'node:crypto';
import { createInterface, type Interface } from 'node:readline';
import type { Client } from '../client/client.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import type { Receipt } from '../protocol/schema.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { narrator } from './narrate.ts';
import type { Terminal } from './terminal.ts';
import { patience } from './watch.ts';

export interface Talk {
  /** Whom it is with; it may begin with the first line. */
  readonly session: Promise<string>;
  /** The last event that is not shown. */
  readonly after: number;
  send(line: string, key: string): Promise<Receipt>;
  shows?(event: Event | ForeignEvent): boolean;
  /** What is said when the person leaves. */
  readonly goodbye: string;
}

export async function talk(
  outlast: Client,
  { session, after, send, shows = () => true, goodbye }: Talk,
  terminal: Terminal,
): Promise<ExitCode> {
  const { dim, red } = terminal.paint;
  const leave = new AbortController();
  const own = new Set<string>();
  const typed = createInterface({ input: process.stdin, output: process.stdout, prompt: dim('› ') });
  const say = (line: string) => above(typed, () => terminal.say(line));
  const left = new Promise<null>((resolve) => {
    typed.on('close', () => {
      leave.abort();
      resolve(null);
    });
  });
  typed.on('SIGINT', () => typed.close());
  typed.on('line', (line) => {
    typed.prompt();
    if (line.trim() === '') return;
    const key = randomUUID();
    own.add(key);
    send(line, key).then(
      ({ message, rule }) => say(dim(`  ${message}: ${rule}`)),
      (error: Error & { next?: string }) => say(`${red(error.message)} ${dim(`→ ${error.next ?? ''}`)}`),
    );
  });
  typed.prompt();
  const id = await Promise.race([session, left]);
  if (id !== null) {
    const { tell } = narrator(id, terminal.paint, terminal.width);
    const options = {
      after,
      signal: leave.signal,
      ...patience({ ...terminal, say: (line = '') => say(line) }, Infinity),
    };
    for await (const event of outlast.follow(id, options)) {
      if (event.kind === 'whisper' || !shows(event)) continue;
      // What was typed here stands on the screen already.
      if (event.kind === 'message.accepted' && event.key !== null && own.has(event.key)) continue;
      for (const line of tell(event)) say(line);
    }
  }
  typed.close();
  terminal.say(dim(`\n${goodbye}`));
  return EXIT.ok;
}

/** Writes a line above the one that is being typed. */
function above(typed: Interface, write: () => void): void {
  process.stdout.write('\r\u001b[K');
  write();
  typed.prompt(true);
}
