/**
 * Lives of a runtime under test: opened on a folder and a world, killed or frozen at any instant, and opened again.
 *
 * L1  A killed life says nothing more and does nothing more. What it had sent stays where the world keeps it.
 * L2  A process is started ahead and waits, so that a life begins as fast as its folder opens.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../lib/clock.ts';
import type { Outside, Runtime, Subject } from './port.ts';
import { rpc } from './rpc.ts';

export interface Life extends Runtime {
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export interface Lives {
  /** A folder of its own for each scenario. */
  folder(): Promise<string>;
  copy(folder: string): Promise<string>;
  open(folder: string, outside: Outside): Promise<Life>;
  end(): Promise<void>;
}

const HOST = fileURLToPath(new URL('./host.ts', import.meta.url));
/** What a single question to a runtime may take, on a slow machine. */
const PATIENCE_MS = 40_000;

export function lives(subject: Subject): Lives {
  const open: Life[] = [];
  const folders: string[] = [];
  let spare = subject.lives === 'process' ? startProcess(subject) : null;

  async function folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'outlast-contract-'));
    folders.push(made);
    return made;
  }

  return {
    folder,
    async copy(from) {
      const to = await folder();
      await (subject.copy?.(from, to) ?? cp(from, to, { recursive: true }));
      return to;
    },
    async open(at, outside) {
      let life: Life;
      if (spare) {
        const child = spare;
        spare = startProcess(subject);
        life = await inProcess(child, at, outside);
      } else life = await inline(subject, at, outside);
      open.push(life);
      return life;
    },
    async end() {
      for (const life of open) await life.kill();
      spare?.kill('SIGKILL');
      await subject.close?.();
      for (const made of folders) await rm(made, { recursive: true, force: true });
    },
  };
}

function startProcess({ module = '' }: Subject): ChildProcess {
  const child = fork(HOST, [module], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.setMaxListeners(0);
  return child;
}

async function inProcess(child: ChildProcess, folder: string, outside: Outside): Promise<Life> {
  const channel = {
    send: (message: object) => void (child.connected && child.send(message as never, () => {})),
    onMessage: (listener: (message: never) => void) => void child.on('message', listener as never),
  };
  const ended = once(child, 'exit');
  const call = rpc(channel, () => ({
    think: (conversation) => outside.think(conversation),
    call: (service, what, key) => outside.call(service, what, key),
    find: (service, key) => outside.find(service, key),
  }));
  await patient('open', call('open', folder));
  const life: Pick<Life, 'kill' | 'freeze' | 'thaw'> = {
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
  return proxied(life, (method, args) => call(method, ...args));
}

async function inline(subject: Subject, folder: string, outside: Outside): Promise<Life> {
  let isDead = false;
  let frozen: Promise<void> | null = null;
  let thaw = (): void => {};
  const pass = async (): Promise<void> => {
    while (frozen && !isDead) await frozen;
    if (isDead) await new Promise<never>(() => {});
  };
  const gated: Outside = through({ pass }, outside);
  const runtime = await patient('open', subject.open(folder, gated, { pass }));
  const life: Pick<Life, 'kill' | 'freeze' | 'thaw'> = {
    async kill() {
      isDead = true;
      thaw();
    },
    freeze() {
      frozen = new Promise((resolve) => {
        thaw = () => {
          frozen = null;
          resolve();
        };
      });
    },
    thaw: () => thaw(),
  };
  const methods = runtime as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
  return proxied(life, async (method, args) => methods[method]?.(...args));
}

/** Each call of a port passes the gate on its way out and on its way back. */
export function through<T extends object>({ pass }: { pass(): Promise<void> }, port: T): T {
  return new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        await pass();
        try {
          return await method.apply(target, args);
        } finally {
          await pass();
        }
      };
    },
  });
}

function proxied(
  life: Pick<Life, 'kill' | 'freeze' | 'thaw'>,
  call: (method: string, args: readonly unknown[]) => Promise<unknown>,
): Life {
  return new Proxy(life as Life, {
    get: (own, name) =>
      Reflect.has(own, name) || typeof name === 'symbol' || name === 'then'
        ? Reflect.get(own, name)
        : (...args: readonly unknown[]) => patient(name, call(name, args)),
  });
}

async function patient<T>(what: string, answer: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = systemClock.sleep(PATIENCE_MS, late.signal).then(() => {
    if (!late.signal.aborted) throw new Error(`${what}: no end within ${PATIENCE_MS / 1_000} s`);
    return answer;
  });
  try {
    return await Promise.race([answer, timer]);
  } finally {
    late.abort();
    timer.catch(() => {});
  }
}
