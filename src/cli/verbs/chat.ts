/**
 * `outlast chat`: one conversation, and the work runs beside it. What is typed goes to it, and what it says comes as it
 * comes, also unasked. With a message on the command line it ends once that is answered.
 */

import { createInterface } from 'node:readline';
import type { Client } from '../../client/client.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import { given } from '../../lib/given.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { wordsOf } from '../message.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { talk } from '../talk.ts';
import type { Terminal } from '../terminal.ts';
import { text, type Verb } from '../verb.ts';
import { watch } from '../watch.ts';

/** Of what was said before, this much is shown: events, of which most are not words. */
const EARLIER = 300;

export const run: Verb = async ({ args, options, terminal }) => {
  const outlast = reach(options);
  const named = given({ name: text(options.name) });
  await sayWhoTalks(outlast, terminal);
  const message = await wordsOf(args);
  if (message.trim() !== '') {
    const begun = await outlast.converse(message, { ...named, ...given({ key: text(options.key) }) });
    const { session, seq: after } = begun;
    return watch(outlast, { session, after, receipt: begun }, terminal);
  }
  return terminal.isInteractive ? lines(outlast, named, terminal) : pipe(outlast, named, terminal);
};

type Named = { readonly name?: string };

async function lines(outlast: Client, named: Named, terminal: Terminal): Promise<ExitCode> {
  const { session: stands } = await outlast.conversation(named);
  const head = stands === null ? 0 : (await outlast.inspect(stands)).head;
  let begin: (session: string) => void = () => {};
  const session =
    stands === null ? new Promise<string>((resolve) => (begin = resolve)) : Promise.resolve(stands);
  const goodbye = `The work goes on. Come back: ${COMMAND} chat${named.name ? ` --name ${named.name}` : ''}`;
  const send = async (line: string, key: string) => {
    const receipt = await outlast.converse(line, { ...named, key });
    begin(receipt.session);
    return receipt;
  };
  return talk(
    outlast,
    { session, after: Math.max(0, head - EARLIER), send, shows: isTalk, goodbye },
    terminal,
  );
}

/** With a program: what it wrote, then what came of it. */
async function pipe(outlast: Client, named: Named, terminal: Terminal): Promise<ExitCode> {
  let first: { readonly session: string; readonly seq: number } | null = null;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const receipt = await outlast.converse(line, named);
    first ??= receipt;
  }
  if (first === null) return EXIT.ok;
  return watch(outlast, { session: first.session, after: first.seq }, terminal);
}

async function sayWhoTalks(outlast: Client, { say, paint }: Terminal): Promise<void> {
  const { model } = await outlast.health();
  if (model?.scripted)
    say(paint.yellow('A scripted planner talks here, and no model: it knows a few requests.'));
}

/** What is between people and the conversation, and not how it goes about it. */
const TALK: ReadonlySet<string> = new Set([
  'message.accepted',
  'child.spawned',
  'response.surfaced',
  'turn.failed',
  'turn.interrupted',
  'budget.exhausted',
  'session.paused',
  'session.resumed',
  'session.stopping',
  'session.stopped',
  'session.reopened',
  'session.quarantined',
]);

const isTalk = ({ kind }: Event | ForeignEvent): boolean => TALK.has(kind);
