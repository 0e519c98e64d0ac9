/** All runs of a bench, in an order that the seed decides, side by side as far as the machine bears it. */

import { assert } from '../lib/assert.ts';
import { seededEntropy } from '../lib/entropy.ts';
import { orderText } from './agent.ts';
import { PROMISES } from './client.ts';
import { seedOf } from './matrix.ts';
import { playRun } from './run.ts';
import type { Outcome } from './score.ts';
import { waysOf } from './strategies.ts';
import type { Cell } from './terms.ts';
import { builtInWorld, type Endpoints } from './world.ts';

export interface Job {
  readonly cell: Cell;
  readonly round: number;
}

export interface CampaignOptions {
  readonly jobs: readonly Job[];
  readonly seed: number;
  /** Begins the names of its runs: unique among those who share the services, and as long, since names cost tokens. */
  readonly name: string;
  readonly width: number;
  readonly signal: AbortSignal;
  readonly play?: (job: Job, run: string, seed: number) => Promise<Outcome>;
  readonly onRun: () => void;
}

/** A fault that did not happen, on a machine that stalled: it is tried again so often. */
const TRIES = 4;
const DIGITS = 5;

export function jobsOf(cells: readonly Cell[], rounds: number, seed: number): readonly Job[] {
  const jobs = cells.flatMap((cell) => Array.from({ length: rounds }, (_, round) => ({ cell, round })));
  shuffle(jobs, seededEntropy(seed).next);
  return jobs;
}

/** Without services of its own it plays what `play` does. */
export async function campaign(
  outside: Endpoints | null,
  options: CampaignOptions,
): Promise<readonly Outcome[]> {
  const { jobs, seed, name, width, signal, onRun } = options;
  const play = options.play ?? (({ cell }: Job, run: string, of: number) => builtIn(outside, cell, run, of));
  const outcomes: Outcome[] = [];
  let taken = 0;
  let number = 0;
  async function hand(): Promise<void> {
    for (let job = jobs[taken++]; job && !signal.aborted; job = jobs[taken++]) {
      let outcome: Outcome | null = null;
      for (let n = 0; n < TRIES && !outcome?.hasFired && !signal.aborted; n++)
        outcome = await play(
          job,
          `${name}r${String(++number).padStart(DIGITS, '0')}`,
          seedOf(seed, job.cell, job.round),
        );
      if (outcome) outcomes.push(outcome);
      onRun();
    }
  }
  await Promise.all(Array.from({ length: width }, hand));
  return outcomes;
}

function builtIn(outside: Endpoints | null, cell: Cell, run: string, seed: number): Promise<Outcome> {
  const { service, variant, strategy } = cell;
  const { splits } = waysOf(strategy);
  assert(outside, 'the built-in services are up');
  const world = builtInWorld(outside, { run, service, variant, splits, message: orderText });
  const tmp = outside.reader.dir;
  return playRun({ cell, run, seed, capability: PROMISES[service], world, tmp });
}

function shuffle<T>(list: T[], random: () => number): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j] as T, list[i] as T];
  }
}
