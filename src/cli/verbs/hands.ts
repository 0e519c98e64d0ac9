/**
 * `outlast hands`: files and commands of sessions on this machine, for a server on another one.
 *
 * A1  It is nothing that cannot be lost: killed, it is started again and knows what runs. Without its folder the sessions
 *     go on in new environments, from their logs.
 * A2  Without a token nothing but loopback is listened on.
 */

import { OutlastError } from '../../core/error.ts';
import { type Machine, openMachine } from '../../hands/machine.ts';
import { handsApp } from '../../hands/server.ts';
import { systemClock } from '../../lib/clock.ts';
import { given } from '../../lib/given.ts';
import { isLoopback } from '../../server/guard.ts';
import { listen } from '../../server/listen.ts';
import { toldToEnd } from '../ending.ts';
import { complain, EXIT } from '../exit.ts';
import { addressOf, confinementOf, reporter } from '../serving.ts';
import { onClosedPipe, type Terminal } from '../terminal.ts';
import { type Options, text, type Verb } from '../verb.ts';

const DEFAULT_PORT = 4748;
const END_BOUND_MS = 5_000;

export const run: Verb = async ({ options, terminal }) => {
  const told = toldToEnd();
  onClosedPipe(() => {});
  const hands = await open(options, terminal).catch((error: unknown) => complain(error, terminal));
  if (typeof hands === 'number') return EXIT.failed;
  const { bold, dim } = terminal.paint;
  terminal.say(`${bold('Outlast hands')} listen on ${bold(hands.url)}`);
  terminal.say(`  ${dim('data   ')} ${hands.dataDir}`);
  terminal.say(`  ${dim('sandbox')} ${hands.says}`);
  terminal.say(dim(`There: outlast serve --hands ${hands.url}`));
  terminal.result({ ready: true, url: hands.url, pid: process.pid, data: hands.dataDir });
  terminal.say(dim(`ending (${await told}) …`));
  await Promise.race([hands.close(), systemClock.sleep(END_BOUND_MS)]);
  terminal.say('ended; what runs goes on for a while, until hands are back');
  process.exit(EXIT.ok);
};

async function open(options: Options, terminal: Terminal) {
  const { port, host } = addressOf(options, {
    ...{ port: process.env.OUTLAST_HANDS_PORT, host: process.env.OUTLAST_HANDS_HOST },
    defaultPort: DEFAULT_PORT,
  });
  const dataDir = text(options.data) ?? (process.env.OUTLAST_HANDS_DATA || '.outlast-hands');
  const token = tokenIn(process.env.OUTLAST_HANDS_TOKEN, host);
  const report = reporter(terminal);
  const confined = confinementOf(options);
  const machine: Machine = await openMachine({
    ...{ dataDir, report },
    ...given({ confinement: confined === 'unconfined' ? ('none' as const) : undefined }),
    ...(typeof confined === 'object' ? confined : {}),
  });
  const { fetch } = handsApp(machine, { token, report });
  const listening = await listen({ fetch, port, host, hasTokens: token !== null }).catch(
    async (error: unknown) => {
      await machine.close();
      throw error;
    },
  );
  return {
    ...{ url: listening.url, says: machine.says, dataDir },
    async close() {
      await listening.close();
      await machine.close();
    },
  };
}

/** A2. */
function tokenIn(given: string | undefined, host: string): string | null {
  if (given && !/^\S{8,}$/.test(given)) {
    throw new OutlastError('owner.unauthorized', 'OUTLAST_HANDS_TOKEN has white space in it, or is short.', {
      next: 'use eight characters or more, for example of: openssl rand -hex 32',
    });
  }
  if (given || isLoopback(host)) return given || null;
  throw new OutlastError(
    'owner.unauthorized',
    `Listening on ${host} without a token would let everyone who reaches it run commands here.`,
    { next: 'set OUTLAST_HANDS_TOKEN here and where outlast serve --hands runs, or listen on 127.0.0.1' },
  );
}
