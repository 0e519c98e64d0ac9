/**
 * Seeded runs: several crashes, a message from outside, a store and a provider that fail now and then, answers that get
 * lost. Then everything heals, and the session must come to rest with nothing done twice, lost or told wrongly.
 *
 * Z1  A seed names a run completely: run twice, it leaves the same trace.
 */

import { OutlastError } from '../../core/error.ts';
import { DEFAULT_LIMITS } from '../../core/limits.ts';
import { overlaid } from '../../lib/overlaid.ts';
import { ModelError } from '../../models/port.ts';
import { type Dice, diceOf } from '../dice.ts';
import type { Failure, LoopOptions, Totals } from './loop.ts';
import { noteFindings, tally } from './loop.ts';
import type { Mutation } from './machine.ts';
import type { Meanwhile } from './meanwhile.ts';
import { NOTE } from './reply.ts';
import { run } from './run.ts';
import type { Scenario } from './scenario.ts';

/** Storms come to an end: after this many faults everything heals. */
const FAULTS = 6;
/** A turn that met one more would end with that, in plain words: true, and another end. */
const OVERLOADS = DEFAULT_LIMITS.modelAttempts - 1;

export async function seedRun(
  seed: number,
  options: Pick<LoopOptions, 'scenarios' | 'sandbox' | 'mutation'>,
  totals: Totals,
  failures: Failure[],
): Promise<void> {
  const first = await once(seed, options);
  const second = await once(seed, options);
  const same = JSON.stringify(first.trace) === JSON.stringify(second.trace);
  const more = [...(same ? [] : [`seed ${seed} run twice leaves two traces`]), ...noteFindings(first)];
  const [only, ...others] = options.scenarios;
  const of = only && others.length === 0 ? `--scenario "${only.name}" ` : '';
  tally(first, `${of}--seed ${seed} --seeds 1`, totals, failures, undefined, more);
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
  return run(scenario, { crashes, meanwhile, rival, sandbox, mutation: both(storm(dice), bug) });
}

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
