/**
 * The hunt for one planted bug: the crash loop until its first finding. Where it is expected is looked at first, for
 * speed alone. A bug is missed when everything that the simulator can do has been done, or when the time of a hunt is over
 * (`catch.ts`); which of the two it was is said.
 */

import { WHOLE } from '../shards.ts';
import { crashLoop, type Failure, type LoopOptions, pairLoop, zero } from './loop.ts';
import type { Mode } from './modes.ts';
import { seedRun } from './seeds.ts';

/** Where a planted bug shows first: a hint. */
export type Where =
  | { readonly scenario: string; readonly mode?: Mode; readonly near?: string }
  /** A seed of this scenario alone: with others beside it, it would name another run whenever one is added. */
  | { readonly scenario: string; readonly seed: number };

export interface Caught {
  readonly name: string;
  /** Repeats the run; null when nothing was found. */
  readonly repeat: string | null;
  readonly finding: string;
}

const SEEDS = 100;

export async function hunt(
  { name, first }: { readonly name: string; readonly first?: Where },
  options: LoopOptions,
): Promise<Caught> {
  const all: LoopOptions = { ...options, shard: WHOLE, untilFailure: true };
  const stages = [
    ...(first ? [() => where(first, all)] : []),
    async () => (await crashLoop(all)).failures,
    () => seeds(1, SEEDS, all),
    async () => (await pairLoop(all)).failures,
  ];
  for (const stage of stages) {
    const [failure] = await stage();
    if (failure) return { name, repeat: failure.repeat, finding: failure.findings[0] ?? '' };
  }
  return { name, repeat: null, finding: '' };
}

async function where(first: Where, options: LoopOptions): Promise<readonly Failure[]> {
  const { scenario } = first;
  const scenarios = options.scenarios.filter((one) => one.name === scenario);
  if (scenarios.length === 0) throw new Error(`there is no scenario "${scenario}"`);
  if ('seed' in first) return seeds(first.seed, 1, { ...options, scenarios });
  const { mode, near } = first;
  const { failures } = await crashLoop({
    ...options,
    scenarios,
    ...(mode ? { modes: [mode] } : {}),
    ...(near === undefined ? {} : { near }),
  });
  return failures;
}

async function seeds(from: number, count: number, options: LoopOptions): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (let seed = from; seed < from + count && failures.length === 0; seed++) {
    await seedRun(seed, options, zero(), failures);
  }
  return failures;
}
