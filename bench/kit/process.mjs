// Owns: a server process from outside: started, listened to, killed. What it says is kept, so that a line which came before
// somebody waited for it is found.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { instant } from './instant.mjs';

const SERVER = new URL('./server.mjs', import.meta.url);
const PATIENCE_MS = 20_000;

export function startServer(dir, { standby = false, program = SERVER } = {}) {
  const spawnedAt = instant();
  const args = [fileURLToPath(program), '--data', dir, ...(standby ? ['--standby'] : [])];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Services that it starts outlive it, and never the benchmark.
    env: { ...process.env, OUTLAST_SERVICES_PARENT: String(process.pid) },
  });
  child.stdin.on('error', () => {});
  const lines = [];
  let complaints = '';
  let heard = () => {};
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line));
    heard();
  });
  const exited = once(child, 'exit').then(() => heard());

  return {
    spawnedAt,
    /** The first line from `from` on that `isIt`; or a later one of them. */
    async line(isIt, { from = 0, nth = 1, patienceMs = PATIENCE_MS } = {}) {
      const until = performance.now() + patienceMs;
      for (;;) {
        const found = lines.slice(from).filter(isIt)[nth - 1];
        if (found) return found;
        const left = until - performance.now();
        if (left <= 0 || child.exitCode !== null || child.signalCode !== null) {
          throw new Error(
            `the server did not say what was waited for; it said ${lines.length} lines\n${complaints}`,
          );
        }
        await Promise.race([new Promise((resolve) => (heard = resolve)), pause(left)]);
      }
    },
    heardSoFar: () => lines.length,
    since: (from) => lines.slice(from),
    ready() {
      return this.line(({ did }) => did === 'ready');
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    /** As it ends when it is asked to. */
    async end() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Connections stay open, as a client of ours keeps them. */
const agent = new Agent({ keepAlive: true });

/** A call of the HTTP interface; the first one of a process opens the connection and should not be the one that counts. */
export async function post(url, path, body) {
  const headers = { 'content-type': 'application/json' };
  const sent = request(`${url}${path}`, { method: 'POST', agent, headers });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  const answer = await text(response);
  if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${answer}`);
  return JSON.parse(answer);
}
