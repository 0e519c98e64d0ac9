/** Sharing the work of this program out to copies of itself; each prints what it has done as JSON on its last line. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/** One part of the work, of so many. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

export const WHOLE: Shard = { index: 0, of: 1 };

/** As `--shard` has it: `index/of`. */
export function shardOf(text: string): Shard {
  const [index = 0, of = 1] = text.split('/').map(Number);
  return { index, of };
}

/** As many as there are cores, with the arguments of this process. */
export async function shards<Part>(): Promise<readonly Part[]> {
  const [, , ...args] = process.argv;
  const of = availableParallelism();
  const children = Array.from({ length: of }, (_, index) =>
    spawn(process.execPath, [process.argv[1] ?? '', ...args, '--shard', `${index}/${of}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  // Nothing survives its parent: neither when it is asked to end, nor when one of the copies fails.
  const end = (): void => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', end);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  return Promise.all(
    children.map(async (child) => {
      const out: string[] = [];
      child.stdout.on('data', (chunk) => out.push(String(chunk)));
      child.stderr.on('data', (chunk) => process.stderr.write(chunk));
      const [code] = (await once(child, 'close')) as [number | null];
      const last = out.join('').trim().split('\n').at(-1) ?? '';
      if (code !== 0 || last === '') throw new Error(`a part of the work ended with ${code}`);
      return JSON.parse(last) as Part;
    }),
  );
}
