/** A real server as a process of its own, from what is built: started, killed, ended, in a folder that goes away. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Both streams so far. */
  readonly output: () => string;
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  end(): Promise<number | null>;
}

/** No model but the planner, no address but the one that a test gives, and services that end with the test. */
export function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/_API_KEY$|^OUTLAST_|^npm_|^FORCE_COLOR$/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    NO_COLOR: '1',
    OUTLAST_SERVICES_PARENT: String(process.pid),
    ...more,
  };
}

export async function startServer(options: {
  readonly data: string;
  readonly port?: number;
  readonly env?: NodeJS.ProcessEnv;
}): Promise<ServerProcess> {
  const args = [MAIN, 'serve', '--json', '--port', String(options.port ?? 0), '--data', options.data];
  const child = spawn(process.execPath, args, {
    env: environment(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      const said = JSON.parse(line) as { ready?: boolean; url?: string };
      if (said.ready && said.url) resolve(said.url);
    });
    child.once('exit', () => reject(new Error(`the server did not start:\n${output}`)));
  });
  const signal = async (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
    await exited;
    return child.exitCode;
  };
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    child,
    output: () => output,
    kill: async () => void (await signal('SIGKILL')),
    end: () => signal('SIGTERM'),
  };
}

/** A folder that is removed by the function that comes with it. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'outlast-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string;
}

/** Runs one command to its end. */
export function command(args: readonly string[], options: CommandOptions = {}): Promise<Ran> {
  return launch(args, options).ended;
}

/** A command that runs: what it said so far, and what it comes to. */
export function launch(args: readonly string[], { env, cwd, input = '' }: CommandOptions = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment(env), cwd, stdio: 'pipe' });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk;
  });
  child.stdin.end(input);
  const ended = once(child, 'close').then((): Ran => ({ code: child.exitCode, ...said }));
  return { child, said, ended };
}
