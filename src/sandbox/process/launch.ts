/**
 * Starting and ending supervisors, from a worker's side. Owns the folder of a session under `<dataDir>/run/`.
 *
 * L1  A session has one supervisor: before another is started, the one that is noted and does not answer is ended with
 *     all that it has.
 * L2  What is noted is a process id with the instant of its start: a stranger who got the id later is left alone.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../lib/clock.ts';
import { parseJson } from '../../lib/json.ts';
import { runs } from '../../lib/runs.ts';
import { cageOf } from './confine/detect.ts';
import { killMarked } from './supervisor/marked.ts';
import { files, type Settings } from './supervisor/settings.ts';
import { endUnshared } from './unshared.ts';

const READY_MS = 15_000;
const END_MS = 10_000;
const AGAIN_MS = 10;
/** What the kernel takes as the path of a socket. */
const SOCKET_PATH_MOST = 100;

interface Note {
  readonly pid: number;
  readonly startedAt: string;
}

/** Where a supervisor of this folder listens: in it, or, where its name is too long, in a folder of this user alone. */
export function socketOf(dir: string, name = 'socket'): string {
  const inside = join(dir, name);
  if (Buffer.byteLength(inside) <= SOCKET_PATH_MOST) return inside;
  const hash = createHash('sha256').update(inside).digest('hex').slice(0, 24);
  const own = join(tmpdir(), `outlast-${process.getuid?.() ?? 0}`);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  return join(own, hash);
}

/** Resolves when it listens. */
export async function launch(settings: Settings): Promise<void> {
  const { dir } = settings;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await endNoted(settings.session, dir);
  if (settings.network) await openWayOut(settings, settings.network);
  const path = join(dir, files.settings);
  writeFileSync(path, JSON.stringify(settings), { mode: 0o600 });
  const log = openSync(join(dir, files.log), 'w', 0o600);
  const main = builtFile(new URL('./supervisor/main.ts', import.meta.url));
  const [program = '', ...args] = cageOf(settings.cage).outer([process.execPath, main, path]);
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', log],
    // Nothing of the server's environment is its business, and its commands get another one still.
    env: { PATH: settings.path },
  });
  closeSync(log);
  const said = await readyLine(child);
  child.stdout?.destroy();
  child.unref();
  if (said?.ready === true && child.pid !== undefined) {
    const note: Note = { pid: child.pid, startedAt: startOf(child.pid) };
    writeFileSync(join(dir, 'process.json'), JSON.stringify(note), { mode: 0o600 });
    return;
  }
  child.kill('SIGKILL');
  const complaint = readFileSync(join(dir, files.log), 'utf8').trim().slice(-500);
  throw new Error(`The sandbox did not start: ${said?.message ?? (complaint || 'it said nothing')}`);
}

/** It waits for its supervisor, and ends with it. */
async function openWayOut(
  { dir, path }: Settings,
  { hosts, egress, hold }: NonNullable<Settings['network']>,
): Promise<void> {
  const log = openSync(join(dir, 'egress.log'), 'w', 0o600);
  const program = builtFile(new URL('./network/egress.ts', import.meta.url));
  const child = spawn(process.execPath, [program, egress, hold, ...hosts], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', log],
    env: { PATH: path },
  });
  closeSync(log);
  const said = await readyLine(child);
  child.stdout?.destroy();
  child.unref();
  if (said?.ready === true) return;
  child.kill('SIGKILL');
  throw new Error(
    `The way out of the sandbox did not open: ${readFileSync(join(dir, 'egress.log'), 'utf8')}`,
  );
}

/** L1, L2. Resolves when no process of it is left. */
export async function endNoted(session: string, dir: string): Promise<void> {
  const note = noteIn(dir);
  if (note && isNoted(note)) {
    endUnshared(note.pid);
    await ended(note);
    if (isNoted(note)) throw new Error(`The sandbox of ${session}, process ${note.pid}, does not end.`);
  }
  await killMarked(session);
  rmSync(join(dir, 'process.json'), { force: true });
}

/** Resolves when the supervisor of this folder, and so all it has, is gone; false when it takes too long. */
export async function ended(note: Note | null): Promise<boolean> {
  if (!note) return true;
  for (let waitedMs = 0; waitedMs < END_MS; waitedMs += AGAIN_MS) {
    if (!isNoted(note)) return true;
    await systemClock.sleep(AGAIN_MS);
  }
  return false;
}

export function noteIn(dir: string): Note | null {
  try {
    return JSON.parse(readFileSync(join(dir, 'process.json'), 'utf8')) as Note;
  } catch {
    return null;
  }
}

const isNoted = ({ pid, startedAt }: Note): boolean => runs(pid) && startOf(pid) === startedAt;

/** The instant at which a process started, as the kernel counts; empty where that cannot be known. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** Its one line; undefined when it ended without a word, or kept silent for too long. */
async function readyLine(child: ChildProcess): Promise<Record<string, unknown> | undefined> {
  const bound = new AbortController();
  try {
    return await Promise.race([
      new Promise<Record<string, unknown> | undefined>((resolve) => {
        child.once('error', (error) => resolve({ ready: false, message: error.message }));
        if (!child.stdout) return resolve(undefined);
        const lines = createInterface({ input: child.stdout });
        lines.once('line', (line) => resolve(parseJson(line) as Record<string, unknown> | undefined));
        lines.once('close', () => resolve(undefined));
      }),
      systemClock.sleep(READY_MS, bound.signal).then(() => undefined),
    ]);
  } finally {
    bound.abort();
  }
}

/** Processes run built code, also when this file itself runs from source. */
const builtFile = (url: URL): string =>
  fileURLToPath(url).replace(/\/src\/(sandbox\/process\/\w+\/\w+)\.ts$/, '/dist/$1.js');
