/**
 * `npm run example:repair`: a repository whose tests fail, five faults behind each other, a context that is too small for
 * the work, and a worker that is killed three times, once with all its files. `examples/repair` has the story.
 */

import { play } from '../play.ts';
import { tellRepair } from './story.ts';

await play({
  name: 'repair',
  help: `npm run example:repair -- [--json] [--keep]

A task makes the tests of a small repository pass, through at least three contexts and three kills; with one of
them all its files and its shell are deleted. Days later it is asked for "the flag we talked about".
With a key in the environment a model does it, else a planner that follows a script and says so.

  --json   what was found as JSON on the last line
  --keep   leave the data folder for a look`,
  tell: tellRepair,
});
