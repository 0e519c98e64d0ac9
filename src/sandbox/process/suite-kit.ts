/** What the parts of the suite share: processes of the machine by their command line, and waiting for a state. */

import { readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '../../lib/clock.ts';
import type { Command } from './port.ts';

let references = 0;

export const reference = (): string => `r${++references}`;

/** A command line that nobody else has: it is found by it in the list of processes. */
export const unique = (): string => `sleep 8${process.pid}${++references}.5`;

/** Processes of the machine whose command line has this in it. */
export function alive(text: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return line === text ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 2_500; tries++) {
    if (await condition()) return;
    await systemClock.sleep(10);
  }
  throw new Error(`never: ${what}`);
}

export const command = (text: string, more: Partial<Command> = {}): Command => ({
  reference: reference(),
  command: text,
  cwd: '.',
  timeoutMs: 20_000,
  background: false,
  input: null,
  pty: false,
  ...more,
});
