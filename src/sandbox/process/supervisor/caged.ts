/**
 * One process in the cage with all that it starts.
 *
 * G1  `ended` is the end of the process itself, `gone` that of everything that it has started, whatever those did with
 *     their session, their group or their descriptors: they share a process id namespace.
 * G2  `kill` ends them all; `gone` tells when.
 */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { systemClock } from '../../../lib/clock.ts';
import { isRecord, parseJson } from '../../../lib/json.ts';
import { runs } from '../../../lib/runs.ts';
import type { Cage, Inmate, Room } from '../confine/cage.ts';
import type { Held } from '../limits.ts';
import { endUnshared, kill } from '../unshared.ts';
import { killMarked, MARK } from './marked.ts';

export interface Caged {
  /** Pid of what put up the walls, as the supervisor sees it. */
  readonly pid: number | null;
  /** Pid of the first process behind them; null when there is none. */
  readonly first: Promise<number | null>;
  readonly stdin: Writable | null;
  /** What it says on both of its outputs. */
  readonly output: Readable;
  /** More pipes, from descriptor 5 on. */
  readonly pipes: readonly (Readable & Writable)[];
  /** Its exit code; 128 and the number of the signal that ended it. Null when nobody saw. */
  readonly ended: Promise<number | null>;
  readonly gone: Promise<void>;
  kill(): void;
}

export interface Start {
  readonly inmate: Inmate;
  readonly hasInput: boolean;
  readonly pipes?: number;
  /** A descriptor that it gets behind its pipes. */
  readonly userns?: number;
  /** Unique in the session. */
  readonly mark: string;
}

const AGAIN_MS = 5;
const FIRST_PIPE = 5;

export function startCaged(cage: Cage, held: Held, room: Room, start: Start): Caged {
  const { inmate, hasInput, pipes = 0, mark, userns } = start;
  const marked = cage.name === 'none' ? { ...room, env: { ...room.env, [MARK]: mark } } : room;
  // Both outputs in one pipe: what was said first stands first.
  const within = userns === undefined ? {} : { userns: FIRST_PIPE + pipes };
  const joined = { ...inmate, ...within, argv: ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...inmate.argv] };
  const [program = '', ...args] = held.wrap(cage.inner(joined, marked));
  const child = spawn(program, args, {
    stdio: [
      ...[hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe', 'pipe', ...Array(pipes).fill('pipe')],
      ...(userns === undefined ? [] : [userns]),
    ] as StdioOptions,
    env: { PATH: process.env.PATH ?? '' },
  });
  const output = child.stdout as Readable;
  // What the walls themselves have to say, when they cannot be put up.
  child.stderr?.on('data', (data) => output.emit('data', data));
  const status = statusOf(child);
  const ended = Promise.race([status.exitCode, exitOf(child)]);
  const gone = goneOf(child, status.init);
  return {
    pid: child.pid ?? null,
    first: status.init,
    stdin: child.stdin,
    output,
    pipes: child.stdio.slice(FIRST_PIPE, FIRST_PIPE + pipes) as (Readable & Writable)[],
    ended,
    gone,
    kill() {
      if (cage.name === 'none') void killMarked(mark);
      status.init.then(
        (pid) => pid !== null && kill(pid),
        () => {},
      );
      if (cage.name === 'namespaces' && child.pid !== undefined) endUnshared(child.pid);
    },
  };
}

/** Descriptor 3: which process holds the namespace, and how the command ended. */
function statusOf(child: ChildProcess): {
  readonly init: Promise<number | null>;
  readonly exitCode: Promise<number>;
} {
  const stream = child.stdio[3] as Readable;
  let text = '';
  let toInit: (pid: number | null) => void = () => {};
  const init = new Promise<number | null>((resolve) => {
    toInit = resolve;
  });
  const exitCode = new Promise<number>((resolve) => {
    stream.on('data', (data: Buffer) => {
      text += data.toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const said = parseJson(line);
        if (!isRecord(said)) continue;
        if (typeof said['child-pid'] === 'number') toInit(said['child-pid']);
        if (typeof said['exit-code'] === 'number') resolve(said['exit-code']);
      }
    });
    stream.on('close', () => toInit(null));
    stream.on('error', () => toInit(null));
  });
  return { init, exitCode };
}

/** The walls fell before the command could say anything. */
function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.on('error', () => resolve(null));
    // Later than the last word on descriptor 3, if there is one.
    child.on('close', (code) => resolve(code));
  });
}

/**
 * Descriptor 4 is open as long as the first process of the namespace has descriptors; it ends after the last of the
 * others, and whoever started it then.
 */
async function goneOf(child: ChildProcess, init: Promise<number | null>): Promise<void> {
  const alive = child.stdio[4] as Readable;
  await new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    alive.on('close', () => resolve());
    alive.on('error', () => resolve());
    alive.resume();
  });
  const pid = await init;
  while (child.exitCode === null && child.signalCode === null && child.pid) await systemClock.sleep(AGAIN_MS);
  while (pid !== null && runs(pid)) await systemClock.sleep(AGAIN_MS);
}
