/** `outlast stats`: where your sessions rest, which guesses about them were wrong, and what that cost. */

import { EXIT } from '../exit.ts';
import { facts } from '../layout.ts';
import { reach } from '../reach.ts';
import type { Verb } from '../verb.ts';

export const run: Verb = async ({ options, terminal }) => {
  const seen = await reach(options).stats();
  const { at, keptForNothing: kept, closedTooEarly: early } = seen;
  const lines = facts(
    [
      ['sessions', `${seen.sessions}: ${at.resident} resident, ${at.parked} parked, ${at.archived} archived`],
      [
        'kept for nothing',
        `${kept.sessions}: ${tenths(kept.heldMbMinutes)} MB·minutes of memory, ${tenths(kept.storedMbDays)} MB·days on the disk`,
      ],
      [
        'closed too early',
        `${early.sessions}, ${early.times} times: ${early.wakeMs} ms of waiting, ${early.tokensReadAgain} tokens read again`,
      ],
    ],
    terminal.paint,
  );
  for (const line of lines) terminal.say(line);
  terminal.result(seen);
  return EXIT.ok;
};

const tenths = (value: number): string => String(Math.round(value * 10) / 10);
