/** Sharing the work of this program out to copies of itself; each prints what it has done as JSON on its last line. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';

export async function shards<Part>(
  args: readonly string[],
  of: number,
  heard: (line: string) => void,
): Promise<readonly Part[]> {
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
      child.stderr.on('data', (chunk) => heard(String(chunk).trimEnd()));
      const [code] = (await once(child, 'close')) as [number | null];
      const last = out.join('').trim().split('\n').at(-1) ?? '';
      if (code !== 0 || last === '') throw new Error(`a part of the work ended with ${code}`);
      return JSON.parse(last) as Part;
    }),
  );
}
