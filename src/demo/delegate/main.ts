/**
 * `npm run example:delegate`: a report over six accounts by six children, while their server is killed at random.
 * `examples/delegate` has the story.
 */

import { play } from '../play.ts';
import { tellDelegate } from './story.ts';

await play({
  name: 'delegate',
  help: `npm run example:delegate -- [--json] [--keep]

A task gives each of six accounts of the sample billing service to a child, and reports what they found. The server
with all seven sessions is killed at random instants (SIGKILL; OUTLAST_SEED=N kills at others), and at the end a
judge reads all logs and the books of the service.
With a key in the environment a model does it, else a planner that follows a script and says so.

  --json   what was found as JSON on the last line
  --keep   leave the data folder for a look`,
  tell: tellDelegate,
});
