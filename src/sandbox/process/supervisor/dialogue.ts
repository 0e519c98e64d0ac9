/** Asking a kernel process: one line of JSON each way, over a pipe of its own. What it says is the guest's word. */

import { statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../lib/clock.ts';
import { isRecord, parseJson } from '../../../lib/json.ts';
import { runs } from '../../../lib/runs.ts';
import { type Room, WORKSPACE } from '../confine/cage.ts';
import type { LiveName, Table } from '../port.ts';
import { startCaged } from './caged.ts';
import { type Back, DOOR, doorIn } from './door.ts';
import type { KernelPlace } from './kernel.ts';
import type { Spool } from './spool.ts';
import { inUserns } from './userns.ts';

export interface KernelAnswer {
  readonly ok: boolean;
  readonly error?: string;
  readonly value?: string;
  readonly table?: Table;
  readonly plots?: readonly string[];
  readonly live?: readonly LiveName[];
  readonly kept?: readonly string[];
  readonly lost?: readonly { readonly name: string; readonly why: string }[];
  readonly failed?: readonly { readonly name: string; readonly why: string }[];
}

type Asked =
  | { readonly op: 'run'; readonly cell: string; readonly code: string }
  | { readonly op: 'checkpoint' | 'restore'; readonly path: string }
  | { readonly op: 'freeze' };

export interface Dialogue {
  readonly isAlive: boolean;
  /** Null when the kernel ended before it answered. */
  ask(asked: Asked): Promise<KernelAnswer | null>;
  /** What was asked last, whether it has begun or not. */
  interrupt(): void;
  /** Where what it prints goes; nowhere between cells. */
  speakInto(spool: Spool | null): void;
  kill(): void;
  /** Resolves when no process of it is left. */
  end(): Promise<void>;
  /** Its first process, as the supervisor sees it. */
  readonly first: Promise<number | null>;
  /** It lets go of all that leads outside, and looks for the door; false when it has ended. Throws when it takes too long. */
  letGo(): Promise<boolean>;
  /** The same process, heard over another line. */
  again(back: Back): Promise<Dialogue>;
}

/** A process and how it is ended, whatever line it is heard over. */
interface Running {
  readonly first: Promise<number | null>;
  readonly ended: Promise<unknown>;
  readonly gone: Promise<void>;
  kill(): void;
}

/** What a message may have, plots and all. */
const MOST = 64 * 2 ** 20;
let started = 0;

const LOOK_MS = 20;
const LET_GO_MS = 5_000;
/** How soon the end of a process is seen that nobody here has started. */
const SEEN_MS = 100;
/** The descriptor of the control pipe, in there. */
const CONTROL = 5;

const HOST = fileURLToPath(new URL('../kernel/kernel.py', import.meta.url));
const INSIDE = '/run/outlast/kernel.py';

/** What a kernel sees, besides what every command does. */
export const roomOfKernel = ({ room, dir }: Pick<KernelPlace, 'room' | 'dir'>): Room => ({
  ...room,
  files: [...room.files, [INSIDE, HOST], [DOOR, doorIn(dir)]],
});

export async function openDialogue(place: KernelPlace, startMs: number, spool: Spool): Promise<Dialogue> {
  const { cage, held, room, python, session } = place;
  const isOpen = cage.name === 'none';
  const inmate = {
    argv: [python, '-I', '-u', '-X', 'utf8', isOpen ? HOST : INSIDE],
    cwd: isOpen ? room.workspace : WORKSPACE,
    pty: false,
  };
  const mark = `${session}.k${++started}`;
  const start = { inmate, hasInput: false, pipes: 1, mark };
  const caged = place.image
    ? await inUserns(async (userns) => startCaged(cage, held, roomOfKernel(place), { ...start, userns }))
    : startCaged(cage, held, roomOfKernel(place), start);
  const [control] = caged.pipes as [Readable & Writable];
  return opened(caged, { control, output: caged.output }, startMs, spool);
}

/** A process that was brought back: nobody here has started it, and its end is seen by looking. */
export function dialogueOf(pid: number, back: Back, startMs: number): Promise<Dialogue> {
  const gone = (async () => {
    while (runs(pid)) await systemClock.sleep(SEEN_MS);
  })();
  const running = {
    first: Promise.resolve(pid),
    ended: gone,
    gone,
    kill() {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    },
  };
  return opened(running, back, startMs, null);
}

/** Resolves when it says that it is ready. */
async function opened(
  caged: Running,
  { control, output }: { readonly control: Readable & Writable; readonly output: Readable },
  startMs: number,
  spool: Spool | null,
): Promise<Dialogue> {
  const waiting = new Map<number, (answer: KernelAnswer | null) => void>();
  let sink = spool;
  let asked = 0;
  let isAlive = true;
  let isReady: (ready: boolean) => void = () => {};
  const ready = new Promise<boolean>((resolve) => {
    isReady = resolve;
  });

  output.on('data', (data: Buffer) => sink?.write(data));
  output.on('error', () => {});
  control.on('error', () => {});
  onJsonLines(
    control,
    (said) => {
      if (said.ready === true) return isReady(true);
      const take = waiting.get(Number(said.id));
      waiting.delete(Number(said.id));
      take?.(said as unknown as KernelAnswer);
    },
    () => caged.kill(),
  );
  caged.ended.then(() => {
    isAlive = false;
    caged.kill(); // What it has started is of no use to anybody without it.
    isReady(false);
    for (const take of waiting.values()) take(null);
    waiting.clear();
  });

  const bound = new AbortController();
  const late = systemClock.sleep(startMs, bound.signal).then(() => false);
  const isUp = await Promise.race([ready, late]);
  bound.abort();
  if (!isUp) {
    caged.kill();
    await caged.gone;
    throw new Error('Python did not start.');
  }
  const send = (message: object): void => {
    control.write(`${JSON.stringify(message)}\n`);
  };
  const dialogue: Dialogue = {
    get isAlive() {
      return isAlive;
    },
    ask: (request) =>
      new Promise((resolve) => {
        if (!isAlive) return resolve(null);
        const id = ++asked;
        waiting.set(id, resolve);
        send({ id, ...request });
      }),
    interrupt: () => send({ op: 'interrupt', id: asked }),
    speakInto(to) {
      sink = to;
    },
    kill: () => caged.kill(),
    async end() {
      caged.kill();
      await caged.gone;
    },
    first: caged.first,
    async letGo() {
      const pid = await caged.first;
      if (pid === null || (await dialogue.ask({ op: 'freeze' }))?.ok !== true) return false;
      control.destroy();
      for (let waitedMs = 0; isAlive && waitedMs < LET_GO_MS; waitedMs += LOOK_MS) {
        if (!isSocket(`/proc/${pid}/fd/${CONTROL}`)) return true;
        await systemClock.sleep(LOOK_MS);
      }
      throw new Error('it does not let go of what leads outside');
    },
    again: (back) => opened(caged, back, startMs, null),
  };
  return dialogue;
}

const isSocket = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;

function onJsonLines(
  stream: Readable,
  take: (said: Record<string, unknown>) => void,
  tooMuch: () => void,
): void {
  const decoder = new StringDecoder('utf8');
  let text = '';
  stream.on('data', (data: Buffer) => {
    text += decoder.write(data);
    if (text.length > MOST) tooMuch();
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const said = parseJson(line);
      if (isRecord(said)) take(said);
    }
  });
}
