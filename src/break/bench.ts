/** The bench over the built-in services: everything that is chosen, and its figures. Ends all that it started. */

import { systemClock } from '../lib/clock.ts';
import { campaign, type Job, jobsOf } from './campaign.ts';
import { shareOut } from './hands.ts';
import { playKilled, sample } from './killed.ts';
import { cells as cellsOf } from './matrix.ts';
import { startOutside } from './outside.ts';
import { missedIn, type Results, type Runs, results } from './report.ts';
import { revision } from './revision.ts';
import type { Outcome } from './score.ts';
import { cellName } from './terms.ts';

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
  let [done, of] = [0, jobs.length + killedJobs.length];
  const onRun = (): void => onProgress(++done, of);
  const outside = await startOutside();
  const play = (chosen: readonly Job[], time: number): Promise<readonly Outcome[]> =>
    shareOut({ ...outside, jobs: chosen, seed, time, width: WIDTH, signal, onRun });
  const playWithKills = (chosen: readonly Job[], time: number): Promise<readonly Outcome[]> =>
    campaign(outside, {
      ...{ jobs: chosen, seed, name: `k${time}`, width: KILLED_WIDTH, signal, onRun },
      play: ({ cell }, run, own) => playKilled(outside, cell, run, own, signal),
    });
  try {
    const runs = await twice(jobs, play);
    const killed = await twice(killedJobs, playWithKills);
    const seconds = Math.round((systemClock.monotonic() - started) / 100) / 10;
    return results({ ...revision(), seed, rounds, quick, seconds, cells, runs, killed });
  } finally {
    await outside.end();
  }

  /** What missed its prediction is run a second time. */
  async function twice(all: readonly Job[], run: typeof play): Promise<Runs> {
    const first = await run(all, 1);
    const missed = new Set(missedIn(first).map(cellName));
    const repeated = all.filter(({ cell }) => missed.has(cellName(cell)));
    of += repeated.length;
    return { first, again: await run(repeated, 2) };
  }
}
