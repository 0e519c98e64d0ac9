/** Asking a kernel process: one line of JSON each way, over a pipe of its own. What it says is the guest's word. */

import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../lib/clock.ts';
import { isRecord, parseJson } from '../../../lib/json.ts';
import { WORKSPACE } from '../confine/cage.ts';
import type { LiveName, Table } from '../port.ts';
import { startCaged } from './caged.ts';
import type { KernelPlace } from './kernel.ts';
import type { Spool } from './spool.ts';

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
  | { readonly op: 'checkpoint' | 'restore'; readonly path: string };

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
}

/** What a message may have, plots and all. */
const MOST = 64 * 2 ** 20;
let started = 0;

const INSIDE = '/run/outlast/kernel.py';

export async function openDialogue(place: KernelPlace, startMs: number, spool: Spool): Promise<Dialogue> {
  const { cage, held, room, python, session } = place;
  const host = fileURLToPath(new URL('../kernel/kernel.py', import.meta.url));
  const isOpen = cage.name === 'none';
  const inmate = {
    argv: [python, '-I', '-u', '-X', 'utf8', isOpen ? host : INSIDE],
    cwd: isOpen ? room.workspace : WORKSPACE,
    pty: false,
  };
  const files = [...room.files, [INSIDE, host] as const];
  const mark = `${session}.k${++started}`;
  const caged = startCaged(cage, held, { ...room, files }, { inmate, hasInput: false, pipes: 1, mark });
  const [control] = caged.pipes as [Readable & Writable];
  const waiting = new Map<number, (answer: KernelAnswer | null) => void>();
  let sink: Spool | null = spool;
  let asked = 0;
  let isAlive = true;
  let isReady: (ready: boolean) => void = () => {};
  const ready = new Promise<boolean>((resolve) => {
    isReady = resolve;
  });

  caged.output.on('data', (data: Buffer) => sink?.write(data));
  caged.output.on('error', () => {});
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
  return {
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
  };
}

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
