/**
 * `npm run example:repair`: a repository whose tests fail, five faults behind each other, a context that is too small for
 * the work, and a worker that is killed three times, once with all its files. `examples/repair` has the story.
 */

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { narrator } from '../narrate.ts';
import { tellRepair } from './story.ts';
import { REPOSITORY } from './world.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `npm run example:repair -- [--json] [--keep]

A task makes the tests of a small repository pass, through at least three contexts and three kills; with one of
them all its files and its shell are deleted. Days later it is asked for "the flag we talked about".
With a key in the environment a model does it, else a planner that follows a script and says so.

  --json   what was found as JSON on the last line
  --keep   leave the data folder for a look`;

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  if (!existsSync(REPOSITORY)) {
    console.error(
      'The repository of this example is not here: it comes with the sources, not with the package.',
    );
    process.exitCode = 1;
    return;
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'outlast-repair-'));
  const write = values.json ? console.error : console.log;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    const say = narrator(write, Boolean(process.stdout.isTTY) && !process.env.NO_COLOR);
    const telling = tellRepair({ dataDir, say, env: process.env, signal: stop.signal });
    const interrupted = once(stop.signal, 'abort').then(() => null);
    const result = await Promise.race([telling, interrupted]);
    if (result === null) {
      process.exitCode = 130;
      await telling.catch(() => {});
      return;
    }
    if (values.json) console.log(JSON.stringify(result.figures));
    for (const wrong of result.wrong) console.error(`not as promised: ${wrong}`);
    process.exitCode = result.wrong.length > 0 ? 1 : 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    if (values.keep) write(`data: ${dataDir}`);
    else await rm(dataDir, { recursive: true, force: true });
  }
}
