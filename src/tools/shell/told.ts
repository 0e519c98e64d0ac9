/** A command in words that a model can use. */

import type { Json } from '../../lib/json.ts';
import type { Excerpt, Report } from '../../sandbox/process/port.ts';

export function toldOf({ job, status, exitCode, ending, ms, output, isAlive }: Report): {
  readonly [name: string]: Json;
} {
  const seconds = Math.round(ms / 100) / 10;
  const ended = ending === null || ending === 'exit' ? null : ENDINGS[ending];
  return {
    ...(status === 'running' ? { running: `in the background as ${job}` } : { exitCode }),
    ...(ended === null ? {} : { ended }),
    seconds,
    output: inWords(output),
    ...(status === 'ended' && isAlive ? { leftRunning: `what it started goes on as ${job}` } : {}),
  };
}

const ENDINGS = {
  time: 'by its time limit, with all that it started',
  memory: 'by the memory limit of the sandbox',
  processes: 'by the limit of processes of the sandbox',
  output: 'by the limit of what a command may say',
  disk: 'by the disk limit of the sandbox',
  killed: 'on request, with all that it started',
  lost: 'with its sandbox; nobody saw its end',
} as const;

export function inWords({ head, tail, omitted, file }: Excerpt): string {
  if (omitted === 0) return head;
  return `${head}\n… ${omitted} bytes left out; all of it is in ${file} …\n${tail}`;
}
