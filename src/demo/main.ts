/**
 * `npm run demo`: the main job on real processes, through three kills. Everything is done through the same HTTP API and
 * the same commands that a person has; the sample services' own books say at the end what is true.
 */

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { narrator } from './narrate.ts';
import { tell } from './story.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== 'demo'),
  options: {
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `npm run demo -- [--json] [--keep]

February, then March, through three kills: a task reports on invoices, its server is killed while it rests, again
in the middle of a cell, and again between sending a mail and saving the answer. Nothing is done twice, and
nothing is lost.

  --json   what was found as JSON on the last line
  --keep   leave the data folder for a look`;

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'outlast-demo-'));
  // With --json the story goes to stderr, so that stdout is the result alone.
  const write = values.json ? console.error : console.log;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    const telling = tell({
      dataDir,
      say: narrator(write, Boolean(process.stdout.isTTY) && !process.env.NO_COLOR),
      env: process.env,
      signal: stop.signal,
    });
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
