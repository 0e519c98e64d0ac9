// Owns: a figure that is a program of its own, because what it measures is a new process: it prints one line of JSON that
// has the figure's name.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BOUND_MS = 60_000;

export function scriptFigure(url, names) {
  return {
    names,
    async measure({ quick = false } = {}) {
      const path = fileURLToPath(url);
      if (!existsSync(path)) return { figures: {}, details: { notTaken: 'its program is not here' } };
      const child = spawn(process.execPath, [path, ...(quick ? ['--quick'] : [])], {
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: BOUND_MS,
      });
      let said = '';
      child.stdout.on('data', (chunk) => {
        said += chunk;
      });
      await once(child, 'close');
      if (child.exitCode !== 0) throw new Error(`it ended with ${child.signalCode ?? child.exitCode}`);
      const found = JSON.parse(said.trim().split('\n').at(-1) ?? '');
      const figures = Object.fromEntries(names.map((name) => [name, found[name] ?? null]));
      return { figures, details: found };
    },
  };
}
