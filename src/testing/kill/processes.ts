/** Processes of the campaign: the services that stay, and the server that comes and goes. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../lib/clock.ts';

export interface Said {
  readonly ready: boolean;
  readonly url: string;
  readonly code?: string;
  readonly message?: string;
}

export interface Running {
  readonly pid: number;
  /** What its first line said; null when it ended without one. */
  readonly said: Promise<Said | null>;
  readonly exited: Promise<unknown>;
  readonly complaints: () => string;
  signal(name: NodeJS.Signals): void;
}

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url));
const OUTSIDE = fileURLToPath(new URL('./services.ts', import.meta.url));

export const startOutside = (books: string, seed: number): Running =>
  start(OUTSIDE, ['--books', books, '--seed', String(seed)]);

export const startServer = (dataDir: string, services: string): Running =>
  start(SERVER, ['--data', dataDir, '--services', services]);

/** In a process group of its own: Ctrl-C is for the campaign, which ends its processes itself. */
function start(entry: string, args: readonly string[]): Running {
  const child = spawn(process.execPath, [entry, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const complaints: string[] = [];
  child.stderr?.on('data', (chunk) => complaints.push(String(chunk)));
  child.stdin?.on('error', () => {});
  const exited = once(child, 'exit').catch(() => {});
  return {
    pid: child.pid ?? 0,
    said: firstLine(child),
    exited,
    complaints: () => complaints.join(''),
    signal: (name) => void child.kill(name),
  };
}

async function firstLine(child: ChildProcess): Promise<Said | null> {
  if (!child.stdout) return null;
  try {
    for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as Said;
  } catch {
    // Killed in the middle of its line.
  }
  return null;
}

const AGAIN_MS = 10;

/** The server of one data folder, in whatever life it is in. */
export class Server {
  private readonly dataDir: string;
  private readonly services: string;
  private life: Running;
  private isOver = false;
  /** What lives that were killed wrote to stderr; kept for a failure. */
  private readonly told: string[] = [];

  constructor(dataDir: string, services: string) {
    this.dataDir = dataDir;
    this.services = services;
    this.life = startServer(dataDir, services);
  }

  get pid(): number {
    return this.life.pid;
  }

  get complaints(): string {
    return [...this.told, this.life.complaints()].join('');
  }

  /** Where it can be reached, once it can: a client asks before every attempt. */
  readonly url = async (): Promise<string> => {
    while (!this.isOver) {
      const { life } = this;
      const said = await life.said;
      if (said?.ready && life === this.life) return said.url;
      if (said && !said.ready)
        throw new Error(`the server did not start: ${said.message} ${life.complaints()}`);
      await systemClock.sleep(AGAIN_MS);
    }
    return 'http://127.0.0.1:9';
  };

  /** Resolves when this life can be reached or has ended. */
  async ready(): Promise<void> {
    await this.life.said;
  }

  /** SIGKILL, and a new process at once, or after a while in which nobody is there. */
  async kill(awayMs = 0, signal?: AbortSignal): Promise<void> {
    const { life } = this;
    life.signal('SIGKILL');
    await life.exited;
    this.told.push(life.complaints());
    if (awayMs > 0) await systemClock.sleep(awayMs, signal);
    if (!this.isOver) this.life = startServer(this.dataDir, this.services);
  }

  freeze(): void {
    this.life.signal('SIGSTOP');
  }

  thaw(): void {
    this.life.signal('SIGCONT');
  }

  /** Also ends a frozen one. */
  async end(): Promise<void> {
    this.isOver = true;
    this.life.signal('SIGKILL');
    await this.life.exited;
  }
}
