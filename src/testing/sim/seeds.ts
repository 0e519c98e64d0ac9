/**
 * Seeded runs: several crashes, a message from outside, a store and a provider that fail now and then, answers that get
 * lost, commits and calls that are late, messages that come twice, a fork. Then everything heals, and the session must come to rest with nothing done twice, lost or told wrongly.
 *
 * Z1  A seed names a run completely: run twice, it leaves the same trace.
 */

import { OutlastError } from '../../core/error.ts';
import { DEFAULT_LIMITS } from '../../core/limits.ts';
import { overlaid } from '../../lib/overlaid.ts';
import { ModelError } from '../../models/port.ts';
import { type Dice, diceOf } from '../dice.ts';
import type { Failure, LoopOptions, Totals } from './loop.ts';
import { noteFindings, tally, thrown } from './loop.ts';
import type { Mutation } from './machine.ts';
import type { Meanwhile } from './meanwhile.ts';
import { goesThrough } from './modes.ts';
import { NOTE } from './reply.ts';
import { type Run, run } from './run.ts';
import type { Scenario } from './scenario.ts';
import { SERVICES } from './world.ts';

/** Storms come to an end: after this many faults everything heals. */
const FAULTS = 6;
/** A turn that met one more would end with that, in plain words: true, and another end. */
const OVERLOADS = DEFAULT_LIMITS.modelAttempts - 1;
/** Less than any service states as the most that a request may be late. */
const LATE_MS = 1_500;
/** Makes other dice of the same seed, so that what a seed has drawn so far stays what it was. */
const OTHER_DICE = 1_000_003;

export async function seedRun(
  seed: number,
  options: Pick<LoopOptions, 'scenarios' | 'sandbox' | 'mutation'>,
  totals: Totals,
  failures: Failure[],
): Promise<void> {
  const [only, ...others] = options.scenarios;
  const of = only && others.length === 0 ? `--scenario "${only.name}" ` : '';
  const repeat = `${of}--seed ${seed} --seeds 1`;
  const runs: Run[] = [];
  try {
    for (let n = 0; n < 2; n++) runs.push(await once(seed, options));
  } catch (error) {
    failures.push({ repeat, findings: [thrown(error)] });
  }
  const [first, second] = runs;
  if (!first || !second) return;
  const same = JSON.stringify(first.trace) === JSON.stringify(second.trace);
  const more = [...(same ? [] : [`seed ${seed} run twice leaves two traces`]), ...noteFindings(first)];
  tally(first, repeat, totals, failures, undefined, more);
}

async function once(
  seed: number,
  { scenarios, sandbox, mutation }: Pick<LoopOptions, 'scenarios' | 'sandbox' | 'mutation'>,
): ReturnType<typeof run> {
  const dice = diceOf(seed);
  const scenario = scenarios[dice.roll(scenarios.length)] as Scenario;
  const crashes = Array.from({ length: dice.roll(5) }, () => ({
    boundary: 1 + dice.roll(80),
    side: dice.chance(50) ? ('before' as const) : ('after' as const),
  }));
  const isStopped = scenario.acts.some((act) => act.do === 'stop');
  const rival = dice.chance(30);
  const meanwhile =
    dice.chance(50) && !isStopped
      ? { boundary: 1 + dice.roll(60), side: 'before' as const, act: meanwhileOf(dice, seed) }
      : null;
  const bug = mutation?.() ?? {};
  const more = diceOf(seed + OTHER_DICE);
  const roads = more.chance(40);
  const late = (percent: number): number => (roads && more.chance(percent) ? 1 + more.roll(LATE_MS) : 0);
  const isRepeated = more.chance(40);
  const forks = meanwhile && more.chance(12) && goesThrough(scenario, 'fork');
  return run(roads ? onSlowRoads(scenario, late) : scenario, {
    ...{ crashes, rival, sandbox, isRepeated, mutation: both(storm(dice), bug) },
    lateMs: () => late(8),
    meanwhile: meanwhile && {
      ...meanwhile,
      act: forks ? { do: 'fork' } : repeated(meanwhile.act, isRepeated),
    },
  });
}

/** The first call of some services is late on its way, whoever still waits for it. */
const onSlowRoads = (scenario: Scenario, late: (percent: number) => number): Scenario => ({
  ...scenario,
  prepare(world) {
    for (const service of Object.keys(SERVICES)) {
      const ms = late(40);
      if (ms > 0) world.slow.set(service, ms);
    }
    scenario.prepare?.(world);
  },
});

const repeated = (act: Meanwhile, isRepeated: boolean): Meanwhile =>
  act.do === 'send' ? { ...act, isRepeated } : act;

/** A planted bug inside of a storm. */
function both(storm: Mutation, bug: Mutation): Mutation {
  const { store, model } = storm;
  return {
    ...bug,
    store: (real) => store?.(bug.store?.(real) ?? real) ?? real,
    model: (real) => model?.(bug.model?.(real) ?? real) ?? real,
  };
}

const HOUR_MS = 3_600_000;
const WHENS = ['next', 'now', 'later'] as const;

function meanwhileOf(dice: Dice, seed: number): Meanwhile {
  switch (dice.roll(8)) {
    case 0:
      return { do: 'stop' };
    case 1:
      return { do: 'interrupt' };
    case 2:
      return { do: 'pause' };
    case 3:
      return { do: 'decide' };
    case 4:
      return { do: 'jump', ms: HOUR_MS };
    case 5:
      return { do: 'jump', ms: -HOUR_MS };
    default:
      return {
        do: 'send',
        messages: [{ text: `${NOTE} seed ${seed}`, when: WHENS[dice.roll(WHENS.length)] ?? 'next' }],
      };
  }
}

/** A store that refuses, or commits and does not say so; a provider that is overloaded. */
function storm(dice: Dice): Mutation {
  let left = FAULTS;
  let overloads = OVERLOADS;
  const strikes = (percent: number): boolean => left > 0 && dice.chance(percent) && left-- > 0;
  return {
    store: (store) =>
      overlaid(store, {
        async commit(commit) {
          if (strikes(4)) throw new OutlastError('store.busy', 'The store is busy.');
          const result = await store.commit(commit);
          // An input is repeated by its sender, under its key; only the holder repeats a commit by itself.
          if (commit.epoch !== null && strikes(4))
            throw new OutlastError('store.failed', 'The answer was lost.');
          return result;
        },
      }),
    model: (model) => ({
      ...model,
      async generate(request, options) {
        if (overloads > 0 && strikes(15)) {
          overloads--;
          throw new ModelError('overloaded', 'The provider is overloaded.', { retry: true });
        }
        return model.generate(request, options);
      },
    }),
  };
}
