/** A narrated job as a program: its options, its data folder, and how it ends. */

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { narrator } from './narrate.ts';
import type { StageOptions } from './stage.ts';

export interface Told {
  /** For `--json`. */
  readonly figures: object;
  /** What is not as promised. */
  readonly wrong: readonly string[];
}

interface Program {
  readonly name: string;
  readonly help: string;
  readonly tell: (options: StageOptions) => Promise<Told>;
}

export async function play({ name, help, tell }: Program): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((arg) => arg !== name),
    options: {
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(help);
  const dataDir = await mkdtemp(join(tmpdir(), `outlast-${name}-`));
  // With --json the story goes to stderr, so that stdout is the result alone.
  const write = values.json ? console.error : console.log;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    const say = narrator(write, Boolean(process.stdout.isTTY) && !process.env.NO_COLOR);
    const telling = tell({ dataDir, say, env: process.env, signal: stop.signal });
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
