/**
 * `npm run demo`: the main job on real processes, through three kills. Everything is done through the same HTTP API and
 * the same commands that a person has; the sample services' own books say at the end what is true.
 */

import { play } from './play.ts';
import { tell } from './story.ts';

await play({
  name: 'demo',
  help: `npm run demo -- [--json] [--keep]

February, then March, through three kills: a task reports on invoices, its server is killed while it rests, again
in the middle of a cell, and again between sending a mail and saving the answer. Nothing is done twice, and
nothing is lost.

  --json   what was found as JSON on the last line
  --keep   leave the data folder for a look`,
  tell,
});
