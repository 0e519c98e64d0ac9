/** The bench over the built-in services: everything that is chosen, and its figures. Ends all that it started. */

import { systemClock } from '../lib/clock.ts';
import { campaign, jobsOf } from './campaign.ts';
import { shareOut } from './hands.ts';
import { playKilled, sample } from './killed.ts';
import { cells as cellsOf } from './matrix.ts';
import { startOutside } from './outside.ts';
import { type Results, results } from './report.ts';

export interface BenchOptions {
  /** Names; none means all. */
  readonly strategies: readonly string[];
  readonly services: readonly string[];
  readonly boundaries: readonly string[];
  readonly quick: boolean;
  readonly rounds: number;
  readonly seed: number;
  /** With the share of real processes and SIGKILL. */
  readonly kills: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, of: number) => void;
}

/** Runs at a time in each process: most of a run is waiting. */
const WIDTH = 16;
const KILLED_WIDTH = 2;

export async function bench(options: BenchOptions): Promise<Results> {
  const { quick, rounds, seed, signal, onProgress } = options;
  const started = systemClock.monotonic();
  const cells = cellsOf({ ...options, isQuick: quick });
  const jobs = jobsOf(cells, rounds, seed);
  const killedJobs = options.kills ? jobsOf(sample(cells, quick), 1, seed) : [];
  let done = 0;
  const onRun = (): void => onProgress(++done, jobs.length + killedJobs.length);
  const outside = await startOutside();
  try {
    const outcomes = await shareOut({ ...outside, jobs, seed, width: WIDTH, signal, onRun });
    const killed = await campaign(outside, {
      ...{ jobs: killedJobs, seed, name: 'kr', width: KILLED_WIDTH, signal, onRun },
      play: ({ cell }, run, of) => playKilled(outside, cell, run, of, signal),
    });
    const seconds = Math.round((systemClock.monotonic() - started) / 100) / 10;
    return results({ seed, rounds, quick, seconds, cells, outcomes, killed });
  } finally {
    await outside.end();
  }
}
