/** The bench over one's own tools: the same boundaries and strategies, one process, and no theory to compare with. */

import { systemClock } from '../lib/clock.ts';
import type { BenchOptions } from './bench.ts';
import { campaign, jobsOf } from './campaign.ts';
import { cells as cellsOf } from './matrix.ts';
import { type Results, results } from './report.ts';
import { revision } from './revision.ts';
import { playRun } from './run.ts';
import { type Subject, subjectWorld } from './subject.ts';
import { STRATEGIES } from './terms.ts';

/** Its services may be in this very process. */
const WIDTH = 4;

export async function benchOf(subject: Subject, options: BenchOptions): Promise<Results> {
  const { rounds, seed, signal, onProgress, quick } = options;
  const strategies = options.strategies.length > 0 ? options.strategies : STRATEGIES.map(({ name }) => name);
  const started = systemClock.monotonic();
  // One service, whatever it can do; what is wanted, and how often, is its own business.
  const cells = cellsOf({ ...options, strategies, services: ['keyed'], isQuick: false }).filter(
    ({ variant }) => variant === 'one',
  );
  const jobs = jobsOf(cells, rounds, seed);
  let done = 0;
  const first = await campaign(null, {
    ...{ jobs, seed, name: 'own', width: WIDTH, signal },
    onRun: () => onProgress(++done, jobs.length),
    async play({ cell }, run, of) {
      const world = await subjectWorld(subject, run);
      const { capability, claims, lateMs } = world;
      return playRun({ cell, run, seed: of, world, capability, claims, lateMs });
    },
  });
  const seconds = Math.round((systemClock.monotonic() - started) / 100) / 10;
  const found = results({
    ...{ ...revision(), seed, rounds, quick, seconds, cells },
    ...{ runs: { first, again: [] }, killed: { first: [], again: [] } },
  });
  // The predictions are of the built-in services.
  return { ...found, predictions: { met: 0, missed: [], repeated: [] } };
}
