/** The seven service processes of a bench, started and ended together. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BookReader } from './service/book.ts';
import { SERVICES, type Service } from './terms.ts';
import type { Endpoints } from './world.ts';

export interface Outside extends Endpoints {
  readonly books: string;
  end(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('./service/main.ts', import.meta.url));

export async function startOutside(): Promise<Outside> {
  const books = mkdtempSync(join(tmpdir(), 'outlast-books-'));
  const children = SERVICES.map(({ name }) => ({ name, child: start(name, books) }));
  const end = async (): Promise<void> => {
    await Promise.all(
      children.map(async ({ child }) => {
        const exited = child.exitCode === null ? once(child, 'exit') : null;
        child.kill('SIGKILL');
        await exited;
      }),
    );
    rmSync(books, { recursive: true, force: true });
  };
  try {
    const urls = await Promise.all(
      children.map(async ({ name, child }) => [name, await urlOf(child)] as const),
    );
    const reader = new BookReader(books);
    return { reader, books, urls: Object.fromEntries(urls) as Record<Service, string>, end };
  } catch (error) {
    await end();
    throw error;
  }
}

const start = (name: Service, books: string): ChildProcess =>
  // In a process group of its own: Ctrl-C is the bench's, which ends them.
  spawn(process.execPath, [MAIN, '--name', name, '--books', books], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });

async function urlOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('a service has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('a service did not start');
}
