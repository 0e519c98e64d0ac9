/**
 * All planted bugs, each in a process of its own: a patch changes the program that is loaded, and a bug may well never
 * come to an end. As many at a time as there are cores.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Caught, Where } from './hunt.ts';
import type { Patch } from './patches.ts';
import { misfit } from './planting.ts';

type Planted = { readonly name: string; readonly first?: Where } | Patch;

/**
 * Real time that the hunt for one bug may take. A bug that is caught is caught in seconds; what has not shown by then counts
 * as missed, also where some runs are left to be done: a hint (`first`) is wrong then, or the harness is too weak.
 */
const LIMIT_MS = 400_000;

export async function catchAll(planted: readonly Planted[], atOnce: number): Promise<readonly Caught[]> {
  const misfits = planted.flatMap((one) => {
    const why = 'edits' in one ? misfit(one) : null;
    return why === null ? [] : [`${one.name}: ${why}`];
  });
  if (misfits.length > 0) throw new Error(`patches to mend:\n${misfits.join('\n')}`);
  const caught: Caught[] = [];
  const waiting = planted.entries();
  const worker = async (): Promise<void> => {
    for (const [index, { name }] of waiting) caught[index] = await caughtAlone(name);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return caught;
}

const run = promisify(execFile);

async function caughtAlone(name: string): Promise<Caught> {
  const args = [process.argv[1] ?? '', '--mutant', name, '--hunt'];
  const options = { timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 2 ** 20 } as const;
  try {
    const hunting = run(process.execPath, args, options);
    // Nothing survives its parent.
    const end = (): void => void hunting.child.kill('SIGKILL');
    process.once('exit', end);
    const { stdout } = await hunting.finally(() => process.off('exit', end));
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Caught;
  } catch (error) {
    const { killed, stderr } = error as { killed?: boolean; stderr?: string };
    const finding = killed ? 'the hunt did not end in time' : `the hunt itself broke: ${stderr}`;
    return { name, repeat: null, finding };
  }
}
