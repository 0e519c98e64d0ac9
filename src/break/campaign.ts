/** All runs of a bench, side by side as far as the machine bears it, in an order that the seed decides. */

import { seededEntropy } from '../lib/entropy.ts';
import { orderText } from './agent.ts';
import { PROMISES } from './client.ts';
import { seedOf } from './matrix.ts';
import { type Outcome, playRun } from './run.ts';
import { waysOf } from './strategies.ts';
import type { Cell } from './terms.ts';
import { builtInWorld, type Endpoints } from './world.ts';

export interface CampaignOptions {
  readonly cells: readonly Cell[];
  readonly rounds: number;
  readonly seed: number;
  readonly width: number;
  readonly signal: AbortSignal;
  readonly onRun: (done: number, of: number) => void;
}

/** A fault that did not happen, on a machine that stalled: it is tried again so often. */
const TRIES = 3;

export async function campaign(outside: Endpoints, options: CampaignOptions): Promise<readonly Outcome[]> {
  const { cells, rounds, seed, width, signal, onRun } = options;
  const jobs = cells.flatMap((cell) => Array.from({ length: rounds }, (_, round) => ({ cell, round })));
  shuffle(jobs, seededEntropy(seed).next);
  const outcomes: Outcome[] = [];
  let taken = 0;
  let number = 0;
  async function hand(): Promise<void> {
    for (let job = jobs[taken++]; job && !signal.aborted; job = jobs[taken++]) {
      const { cell, round } = job;
      let outcome: Outcome | null = null;
      for (let n = 0; n < TRIES && !outcome?.hasFired && !signal.aborted; n++) {
        const run = `r${++number}`;
        outcome = await playRun({
          ...{ cell, run, seed: seedOf(seed, cell, round), capability: PROMISES[cell.service] },
          world: builtInWorld(outside, {
            ...{ run, service: cell.service, variant: cell.variant, message: orderText },
            splits: waysOf(cell.strategy).splits,
          }),
        });
      }
      if (outcome) outcomes.push(outcome);
      onRun(outcomes.length, jobs.length);
    }
  }
  await Promise.all(Array.from({ length: width }, hand));
  return outcomes;
}

function shuffle<T>(list: T[], random: () => number): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j] as T, list[i] as T];
  }
}
