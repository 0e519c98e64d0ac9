/**
 * A sample service as a process: its arguments, its ready line, and when it ends.
 *
 * P1. One line on stdout, `{"ready":true,…}` or `{"ready":false,…}`, and nothing after it: the reader may be gone.
 * P2. It ends on SIGTERM or SIGINT, after the running answers.
 * P3. Nothing survives unasked: it ends by itself when its data folder is gone, when another has taken over its
 *     books, or when OUTLAST_SERVICES_PARENT names a process that is gone.
 */
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { systemClock } from '../lib/clock.ts';
import { runs } from '../lib/runs.ts';
import type { Service, ServiceOptions } from './service.ts';

const WATCH_MS = 500;

/** What the ready line says. */
export type Ready =
  | { readonly ready: true; readonly url: string; readonly pid: number; readonly instance: string }
  | { readonly ready: false; readonly code: string; readonly message: string };

export async function runService(start: (options: ServiceOptions) => Promise<Service>): Promise<void> {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, port: { type: 'string', default: '0' } },
  });
  const service = await start({ dataDir: values.data ?? '.outlast', port: Number(values.port) }).catch(fail);
  const ending = new AbortController();
  process.once('SIGTERM', () => ending.abort());
  process.once('SIGINT', () => ending.abort());
  say({ ready: true, url: service.url, pid: process.pid, instance: service.instance });

  while (!ending.signal.aborted && service.wanted() && parentRuns()) {
    await systemClock.sleep(WATCH_MS, ending.signal);
  }
  await service.stop();
  process.exit(0);
}

function parentRuns(): boolean {
  const parent = process.env.OUTLAST_SERVICES_PARENT;
  return parent === undefined || runs(Number(parent));
}

function fail(error: NodeJS.ErrnoException): never {
  writeSync(2, `${error.message}\n`);
  say({ ready: false, code: error.code ?? 'failed', message: error.message }); // last: its reader ends us
  process.exit(1);
}

function say(line: Ready): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
