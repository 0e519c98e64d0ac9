/**
 * The sample services as the server sees them: found if they run, started if they do not.
 *
 * Owns the processes and `<data>/books/services.json`, where it notes them (0600). Called once per server, which
 * holds the data folder's lock.
 *
 * N1. The services outlive a server that was killed, and the next server finds them again.
 * N2. One counts as running when its process does AND its `/healthz` answers the instance that was noted: a process
 *     id or a port that a stranger took over is not mistaken for it.
 * N3. One that is started anew gets its old port if that is free, so that URLs held by sessions stay valid; its books
 *     are kept in any case.
 * N4. `stop` returns when the processes have exited. The note stays, for the sake of the ports (N3).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../lib/clock.ts';
import { runs } from '../lib/runs.ts';
import { booksDir, revokeBooks, type ServiceName } from './books.ts';
import type { Ready } from './process.ts';

const READY_BOUND_MS = 15_000;
const HEALTH_BOUND_MS = 3_000;
const STOP_BOUND_MS = 5_000;
const LOOK_AGAIN_MS = 20;

export interface Sample {
  readonly url: string;
  readonly pid: number;
}

export interface Samples {
  readonly billing: Sample;
  readonly mailing: Sample;
  stop(): Promise<void>;
}

interface Note extends Sample {
  readonly instance: string;
  readonly startedAt: string;
}

/** `const { billing, mailing, stop } = await startSamples({ dataDir: '.outlast' })` */
export async function startSamples(options: { readonly dataDir: string }): Promise<Samples> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(booksDir(dataDir), { recursive: true, mode: 0o700 });
  const noted = readNotes(dataDir);
  const outcomes = await Promise.allSettled([
    findOrStart(dataDir, 'billing', noted.billing),
    findOrStart(dataDir, 'mailing', noted.mailing),
  ]);
  const [billing, mailing] = outcomes.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
  if (billing === undefined || mailing === undefined) {
    await stopAll(dataDir, { billing, mailing });
    throw outcomes.find((one) => one.status === 'rejected')?.reason;
  }
  writeNotes(dataDir, { billing, mailing });
  return {
    billing: { url: billing.url, pid: billing.pid },
    mailing: { url: mailing.url, pid: mailing.pid },
    stop: () => stopAll(dataDir, { billing, mailing }),
  };
}

async function findOrStart(dataDir: string, service: ServiceName, noted: Note | undefined): Promise<Note> {
  if (noted === undefined) return launch(dataDir, service, 0);
  if (await isRunning(noted)) return noted;
  return launch(dataDir, service, Number(new URL(noted.url).port));
}

/** N2. */
async function isRunning({ url, pid, instance }: Note): Promise<boolean> {
  if (!runs(pid)) return false;
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(HEALTH_BOUND_MS) });
    return ((await answer.json()) as { instance?: unknown }).instance === instance;
  } catch {
    return false;
  }
}

async function launch(dataDir: string, service: ServiceName, port: number): Promise<Note> {
  const complaints = join(booksDir(dataDir), `${service}.stderr`);
  const stderr = openSync(complaints, 'w', 0o600);
  // A file for stderr and a pipe for one line: the service must not meet a broken pipe when the server is killed (N1).
  const child = spawn(process.execPath, [programOf(service), '--data', dataDir, '--port', String(port)], {
    detached: true,
    stdio: ['ignore', 'pipe', stderr],
    env: environment(),
  });
  closeSync(stderr);
  const ready = await readyLine(child);
  child.stdout?.destroy();
  child.unref();
  if (ready?.ready) {
    const { url, pid, instance } = ready;
    return { url, pid, instance, startedAt: new Date(systemClock.now()).toISOString() };
  }
  child.kill('SIGKILL');
  if (ready?.code === 'EADDRINUSE' && port !== 0) return launch(dataDir, service, 0);
  const said = readFileSync(complaints, 'utf8').trim();
  const what = ready === undefined ? `was not ready within ${READY_BOUND_MS} ms` : 'failed to start';
  throw new Error(`The sample ${service} service ${what}${said === '' ? '' : `. It said: ${said}`}`);
}

/** The service's one line; undefined when it kept silent for too long. A service that ended first failed. */
async function readyLine(child: ChildProcess): Promise<Ready | undefined> {
  const bound = new AbortController();
  const failed = (message: string): Ready => ({ ready: false, code: 'failed', message });
  try {
    return await Promise.race([
      new Promise<Ready>((resolve) => {
        child.once('error', (error) => resolve(failed(error.message)));
        if (child.stdout === null) return;
        const lines = createInterface({ input: child.stdout });
        lines.once('line', (line) => resolve(JSON.parse(line) as Ready));
        lines.once('close', () => resolve(failed('It ended without a word')));
      }),
      systemClock.sleep(READY_BOUND_MS, bound.signal).then(() => undefined),
    ]);
  } finally {
    bound.abort();
  }
}

async function stopAll(
  dataDir: string,
  notes: Readonly<Record<ServiceName, Note | undefined>>,
): Promise<void> {
  await Promise.all([stopOne(dataDir, 'billing', notes.billing), stopOne(dataDir, 'mailing', notes.mailing)]);
}

async function stopOne(dataDir: string, service: ServiceName, note: Note | undefined): Promise<void> {
  if (note !== undefined && (await isRunning(note))) {
    signal(note.pid, 'SIGTERM');
    if (!(await ended(note.pid))) signal(note.pid, 'SIGKILL');
    if (!(await ended(note.pid)))
      throw new Error(`The sample ${service} service, process ${note.pid}, does not end`);
  }
  revokeBooks(dataDir, service); // one that hangs, and so could not be told from a stranger, ends when it wakes
}

async function ended(pid: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < STOP_BOUND_MS; waitedMs += LOOK_AGAIN_MS) {
    if (!runs(pid)) return true;
    await systemClock.sleep(LOOK_AGAIN_MS);
  }
  return !runs(pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Processes run built code, also when this file itself runs from source. */
function programOf(service: ServiceName): string {
  const built = import.meta.url.replace(/\/src\/services\/spawn\.ts.*$/, '/dist/services/spawn.js');
  return fileURLToPath(new URL(`./${service}/main.js`, built));
}

/** Nothing of the server's environment is the services' business, its model keys least of all. */
function environment(): NodeJS.ProcessEnv {
  const parent = process.env.OUTLAST_SERVICES_PARENT;
  return parent === undefined ? {} : { OUTLAST_SERVICES_PARENT: parent };
}

function notesFile(dataDir: string): string {
  return join(booksDir(dataDir), 'services.json');
}

/** Notes that are missing or unreadable mean only that services are started anew; the books fence older ones. */
function readNotes(dataDir: string): { readonly billing?: Note; readonly mailing?: Note } {
  try {
    return JSON.parse(readFileSync(notesFile(dataDir), 'utf8'));
  } catch {
    return {};
  }
}

function writeNotes(dataDir: string, notes: { readonly billing: Note; readonly mailing: Note }): void {
  const draft = `${notesFile(dataDir)}.draft`;
  writeFileSync(draft, `${JSON.stringify(notes, undefined, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, notesFile(dataDir));
}
