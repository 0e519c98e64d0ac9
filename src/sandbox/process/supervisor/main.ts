/**
 * The supervisor of one session: a small process beside its commands that outlives the worker.
 *
 * S1  It answers on a unix socket that only its user can open, to whoever has the newest epoch.
 * S2  It ends everything and itself when it is told to, and when nobody has renewed for too long (`holder.ts`).
 * S3  It is the first of its process id namespace but for the shell that waits for it: with its end, however that comes,
 *     all that it has started ends.
 * S4  With nothing running and nobody asking for a while it ends by itself: journal and files are all that a next one
 *     needs.
 * S5  One line on stdout when it listens, and nothing after it: the reader may be gone.
 */

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import type { Room } from '../confine/cage.ts';
import { cageOf } from '../confine/detect.ts';
import { held as hold } from '../limits.ts';
import { PROXY_PORT, proxyEnv, relay } from '../network/relay.ts';
import type { Ending } from '../port.ts';
import { Cells } from './cells.ts';
import { Holder } from './holder.ts';
import { Jobs } from './jobs.ts';
import { onLines, toLine } from './lines.ts';
import type { Answered, Answers, Asked, Request } from './protocol.ts';
import { files, type Settings } from './settings.ts';
import { watch } from './watch.ts';

const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Settings;
const { dir, limits } = settings;

const ending = new AbortController();
let usedAt = systemClock.monotonic();
const cage = cageOf(settings.cage);
const held = hold(limits, `outlast-${settings.session}-${settings.epoch}`);
const room = roomOf(settings);
const holder = new Holder(dir, settings.holdMs);
const jobs = new Jobs(settings, cage, held, room);
const cells = new Cells({ ...settings, cage, held, room }, jobs);

if (!holder.admit(settings.epoch)) fail('a newer holder has been here');
if (settings.network) await relay(settings.network.egress, settings.network.hold).catch(fail);
listen();
const isHeld = held.isWhole || cage.name === 'none';
const folders = [settings.workspace, room.scratch, room.outputs];
const isBusy = (): boolean => jobs.alive().length > 0 || cells.hasLive;
void watch({ folders, limits, isHeld, isBusy, end: endWhatIsOver }, ending.signal);
void holder.lapse(ending.signal).then(lapsed);
void endIdle();

/** S4. */
async function endIdle(): Promise<void> {
  const { idleMs } = settings;
  while (systemClock.monotonic() - usedAt < idleMs) {
    await systemClock.sleep(idleMs / 10, ending.signal);
    if (ending.signal.aborted) return;
    // What runs is use: the time begins anew when it ends.
    if (isBusy()) usedAt = systemClock.monotonic();
  }
  await cells.park(true).catch(() => {});
  await end('nothing ran');
}

/** Nobody holds the session: what can be kept of the kernel is, and then all ends. */
async function lapsed(): Promise<void> {
  if (ending.signal.aborted) return;
  await cells.park(true).catch(() => {});
  await end('no worker renewed');
}

async function endWhatIsOver(cause: Ending): Promise<void> {
  await Promise.all([jobs.killAll(cause), cells.end(cause, `the sandbox was over its limit: ${cause}`)]);
}

async function endAll(why: string): Promise<void> {
  await Promise.all([jobs.killAll('killed'), cells.end('killed', why)]);
}

async function end(why: string): Promise<void> {
  if (ending.signal.aborted) return;
  ending.abort();
  await endAll(why);
  held.remove();
  rmSync(settings.socket, { force: true });
  process.exit(0);
}

function listen(): void {
  rmSync(settings.socket, { force: true });
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    onLines(socket, (message) => void answer(socket, message as Asked));
  });
  server.on('error', (error) => fail(error.message));
  server.listen(settings.socket, () => {
    chmodSync(settings.socket, 0o600);
    writeSync(1, toLine({ ready: true }));
  });
}

function fail(why: string | Error): never {
  writeSync(1, toLine({ ready: false, message: why instanceof Error ? why.message : why }));
  process.exit(1);
}

async function answer(socket: Socket, asked: Asked): Promise<void> {
  const { id, epoch } = asked;
  const say = (answered: Answered): void => {
    if (socket.writable) socket.write(toLine(answered));
  };
  if (!holder.admit(epoch)) {
    return say({ id, ok: false, code: 'old', message: 'another worker holds this session' });
  }
  if (asked.op !== 'renew' && asked.op !== 'trust') usedAt = systemClock.monotonic();
  try {
    say({ id, ok: true, answer: await perform(asked) });
    if (asked.op === 'end') await end('the session was stopped');
  } catch (error) {
    say({ id, ok: false, code: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

async function perform(asked: Request): Promise<Answers[Request['op']]> {
  switch (asked.op) {
    case 'renew':
      return null;
    case 'trust':
      cells.trust(Buffer.from(asked.key, 'base64'));
      return null;
    case 'run':
      return jobs.run(asked.command);
    case 'cell':
      return cells.run(asked.cell);
    case 'objects':
      return cells.objects();
    case 'park':
      return cells.park(asked.mayLose);
    case 'find':
      return (await cells.find(asked.reference)) ?? jobs.find(asked.reference);
    case 'callOff':
      jobs.callOff(asked.reference);
      cells.callOff(asked.reference);
      return null;
    case 'jobs':
      return jobs.alive().map((job) => job.report());
    case 'look':
      return jobs.look(asked.job, asked.chars ?? undefined);
    case 'input':
      return jobs.write(asked.job, asked.text, asked.reference);
    case 'kill':
      return jobs.kill(asked.job);
    case 'end':
      await endAll('the session was stopped');
      return null;
  }
}

/** What commands see of the host, with files of ours where theirs would say who lives here. */
function roomOf({ workspace, shown, path }: Settings): Room {
  const folder = (name: string): string => {
    const made = join(dir, name);
    mkdirSync(made, { recursive: true, mode: 0o700 });
    return made;
  };
  const scratch = folder(files.scratch);
  try {
    mkdirSync(join(scratch, 'home'), { mode: 0o700 });
  } catch {
    // It is there, or the guest has made something else of it, which is its own affair.
  }
  const etc = folder('etc');
  const file = (name: string, text: string): readonly [string, string] => {
    writeFileSync(join(etc, name), text, { mode: 0o644 });
    return [`/etc/${name}`, join(etc, name)];
  };
  const isOpen = cage.name === 'none';
  return {
    ...{ shown, workspace, scratch, outputs: folder(files.outputs), root: folder('root') },
    files: [
      file('passwd', 'agent:x:65534:65534::/tmp/home:/bin/sh\n'),
      file('group', 'agent:x:65534:\n'),
      file('hosts', '127.0.0.1 localhost outlast\n::1 localhost\n'),
    ],
    env: {
      PATH: path,
      HOME: isOpen ? join(scratch, 'home') : '/tmp/home',
      TMPDIR: isOpen ? scratch : '/tmp',
      LANG: 'C.UTF-8',
      USER: 'agent',
      TERM: 'dumb',
      ...(settings.network ? proxyEnv(PROXY_PORT) : {}),
    },
  };
}
