/** A real Outlast server as a process that the demo may kill: started, found, killed with SIGKILL, ended cleanly. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** SIGKILL: nothing in the process gets a chance to do anything. */
  kill(): Promise<void>;
  /** SIGTERM, and waits for the clean end. */
  end(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const READY_MS = 30_000;

/** `nodeArgs` go to Node itself. */
export async function startServer(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  nodeArgs: readonly string[] = [],
): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [...nodeArgs, MAIN, 'serve', '--json', '--port', '0', '--data', dataDir],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // The samples outlive a killed server, and never the demo.
      env: { ...env, OUTLAST_SERVICES_PARENT: String(process.pid) },
    },
  );
  const stderr: string[] = [];
  child.stderr?.on('data', (chunk) => stderr.push(String(chunk)));
  const url = await ready(child, stderr);
  const exited = once(child, 'exit');
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    child.kill(name);
    await exited;
  };
  return { url, pid: child.pid ?? 0, kill: () => signal('SIGKILL'), end: () => signal('SIGTERM') };
}

async function ready(child: ChildProcess, stderr: readonly string[]): Promise<string> {
  const late = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  try {
    if (!child.stdout) throw new Error('the server has no output');
    for await (const line of createInterface({ input: child.stdout })) {
      const url = urlIn(line);
      if (url) return url;
    }
    const why = child.killed ? `it was not ready within ${READY_MS} ms` : stderr.join('').trim();
    throw new Error(`the server did not start: ${why}`);
  } finally {
    clearTimeout(late);
    child.stdout?.resume();
  }
}

function urlIn(line: string): string | null {
  try {
    const said = JSON.parse(line) as { ready?: boolean; url?: string };
    return said.ready && said.url ? said.url : null;
  } catch {
    return null;
  }
}
