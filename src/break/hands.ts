/**
 * The runs, shared out to processes of their own: for each core one, and one for the runs with a store on disk, whose
 * flushes would hold up the others. The parent starts the services, collects, and ends everything.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Job } from './campaign.ts';
import type { Outcome } from './score.ts';
import type { Service } from './terms.ts';

/** What a hand is told first. */
export interface Task {
  readonly jobs: readonly Job[];
  readonly seed: number;
  readonly name: string;
  readonly width: number;
  readonly books: string;
  readonly urls: Readonly<Record<Service, string>>;
}

/** What a hand says. */
export type Word = { readonly ran: true } | { readonly outcomes: readonly Outcome[] };

/** Runs that a process of its own is worth. */
const WORTH_IT = 40;
const DISK_WIDTH = 2;

const HAND = fileURLToPath(new URL('./hand.ts', import.meta.url));

interface Options {
  readonly jobs: readonly Job[];
  readonly seed: number;
  /** The first time, or the second: names of runs are unique. */
  readonly time: number;
  readonly width: number;
  readonly books: string;
  readonly urls: Task['urls'];
  readonly signal: AbortSignal;
  readonly onRun: () => void;
}

export async function shareOut(options: Options): Promise<readonly Outcome[]> {
  const { jobs, signal, onRun, width, time, ...rest } = options;
  const isOnDisk = ({ cell }: Job): boolean => cell.boundary === 'torn';
  const most = Math.min(availableParallelism(), 4);
  const tasks: readonly Task[] = [
    ...parts(
      jobs.filter((job) => !isOnDisk(job)),
      most,
    ).map((part, n) => ({
      ...{ ...rest, jobs: part, name: `h${time}${n}`, width },
    })),
    ...parts(jobs.filter(isOnDisk), most).map((part, n) => ({
      ...{ ...rest, jobs: part, name: `d${time}${n}`, width: DISK_WIDTH },
    })),
  ];
  return (await Promise.all(tasks.map((task) => employ(task, signal, onRun)))).flat();
}

/** At most so many, none of them small. */
function parts(jobs: readonly Job[], most: number): readonly (readonly Job[])[] {
  const of = Math.min(most, Math.ceil(jobs.length / WORTH_IT));
  return Array.from({ length: of }, (_, index) => jobs.filter((_, n) => n % of === index));
}

async function employ(task: Task, signal: AbortSignal, onRun: () => void): Promise<readonly Outcome[]> {
  const child = fork(HAND, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });
  const stop = (): void => end(child);
  signal.addEventListener('abort', stop, { once: true });
  let outcomes: readonly Outcome[] | null = null;
  child.on('message', (word: Word) => {
    if ('ran' in word) return onRun();
    outcomes = word.outcomes;
    child.disconnect();
  });
  child.send(task);
  const [code] = (await once(child, 'exit')) as [number | null];
  signal.removeEventListener('abort', stop);
  if (signal.aborted) return [];
  if (!outcomes) throw new Error(`a part of the runs ended with ${code}`);
  return outcomes;
}

function end(child: ChildProcess): void {
  child.kill('SIGKILL');
}
