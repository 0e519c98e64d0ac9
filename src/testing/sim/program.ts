/**
 * The simulator's command line: the crash loop over all scenarios. `--mutants` runs the planted bugs, `--scenario NAME
 * --mode MODE --boundary N --side before|after` repeats one run, `--json` prints the totals as the last line. The runs
 * are shared out to as many processes as there are cores.
 */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { inlineSandbox } from '../inline-sandbox.ts';
import { type Shard, shardOf, shards, WHOLE } from '../shards.ts';
import { catchAll } from './catch.ts';
import { forbidAmbient } from './guard.ts';
import { type Caught, hunt } from './hunt.ts';
import type { Side } from './life.ts';
import {
  crashLoop,
  type Failure,
  type LoopOptions,
  pairLoop,
  type Totals,
  type Windows,
  windowLoop,
  zero,
} from './loop.ts';
import { MODES } from './modes.ts';
import { MUTANTS } from './mutants.ts';
import { PATCHES } from './patches.ts';
import { SCENARIOS } from './scenarios.ts';
import { seedRun } from './seeds.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    /** Of a child of `--mutants`. */
    hunt: { type: 'boolean', default: false },
    pairs: { type: 'boolean', default: false },
    windows: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    scenario: { type: 'string' },
    mode: { type: 'string' },
    boundary: { type: 'string' },
    side: { type: 'string', default: 'before' },
    /** `index/of`: one part of the work, for the processes that share it. */
    shard: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `npm run sim -- [options]

Runs every scenario once clean, then once for each boundary and each side of it: with a crash there, with a
machine that freezes there and goes on later or beside its successor, with one machine after the other that dies
there, with somebody else who sends, stops, interrupts, holds, decides or forks there, with a clock that jumps, and with
a store or a provider that fails there.

  --json                     totals as JSON on the last line
  --full                     both sides of every boundary in every mode, also where they cannot differ
  --pairs                    a crash, and another during its recovery: every pair of the small scenarios, with --full
                             of all (minutes)
  --windows                  counts what is left out: freezes right before a request to a service without any means
  --seeds N --seed S         N random runs from seed S on: crashes, messages (some twice), delays, forks, a failing
                             store and provider
  --mutants                  run the planted bugs; each must be caught
  --mutant NAME              the same runs with this bug planted; with the options of one run it repeats its catch
  --scenario NAME            only this scenario
  --mode MODE                only this mode: ${MODES.join(', ')}
  --mode MODE --boundary N --side before|after
                             repeat one run (a failure prints this line)`;

/** What one process has done. */
type Part = { readonly totals: Totals; readonly failures: readonly Failure[] };

const ALL = [...MUTANTS, ...PATCHES];

const started = process.hrtime.bigint();
if (values.help) console.log(HELP);
else if (values.hunt) console.log(JSON.stringify(await hunted()));
else if (values.shard !== undefined) console.log(JSON.stringify(await part(shardOf(values.shard))));
else await whole();

async function whole(): Promise<void> {
  if (values.windows) return tellWindows(await guarded(WHOLE, windowLoop));
  if (values.mutants) return tellMutants(await catchAll(ALL, availableParallelism()));
  const isOne = values.boundary !== undefined;
  const parts = isOne ? [await part(WHOLE)] : await shards<Part>();
  tellTotals(parts);
}

/** Of a child of `--mutants`: one planted bug until it is caught. */
async function hunted(): Promise<Caught> {
  const mutant = ALL.find(({ name }) => name === values.mutant);
  if (!mutant) throw new Error(`there is no planted bug "${values.mutant}"`);
  return guarded(WHOLE, (options) => hunt(mutant, options));
}

async function part(shard: Shard): Promise<Part> {
  return guarded(shard, (options) => {
    if (values.pairs) return pairLoop(options);
    return values.seeds === undefined ? crashLoop(options) : runSeeds(options, shard);
  });
}

/** Does it while the machine's own clock, randomness and network are forbidden. */
async function guarded<T>(shard: Shard, work: (options: LoopOptions) => Promise<T>): Promise<T> {
  const sandbox = await inlineSandbox();
  const { scenario, boundary, full } = values;
  const mode = MODES.find((one) => one === values.mode);
  const options: LoopOptions = {
    scenarios: SCENARIOS.filter(({ name, isSmall }) =>
      scenario === undefined ? !values.pairs || full || isSmall : name === scenario,
    ),
    sandbox: () => sandbox,
    full,
    shard,
    ...(mode ? { modes: [mode] } : {}),
    ...mutationOf(values.mutant),
    ...(scenario !== undefined && boundary !== undefined
      ? {
          only: {
            scenario,
            mode: mode ?? 'crash',
            crash: { boundary: Number(boundary), side: values.side as Side },
          },
        }
      : {}),
  };
  const allow = forbidAmbient();
  try {
    return await work(options);
  } finally {
    allow();
  }
}

/** Of a wrapper; a patch is in the program's text already (`main.ts`). */
function mutationOf(name: string | undefined): Pick<LoopOptions, 'mutation'> {
  if (name === undefined) return {};
  const mutant = ALL.find((one) => one.name === name);
  if (!mutant) throw new Error(`there is no planted bug "${name}"; --mutants lists them`);
  return 'mutation' in mutant ? { mutation: mutant.mutation } : {};
}

async function runSeeds(options: LoopOptions, { index, of }: Shard): Promise<Part> {
  const totals = zero();
  const failures: Failure[] = [];
  for (let i = index; i < Number(values.seeds); i += of) {
    await seedRun(Number(values.seed) + i, options, totals, failures);
  }
  return { totals, failures };
}

function tellTotals(parts: readonly Extract<Part, { totals: Totals }>[]): void {
  const totals = sum(parts.map((done) => done.totals));
  const failures = parts.flatMap((done) => done.failures);
  for (const { repeat, findings } of failures) {
    console.error(`\nnpm run sim -- ${repeat}`);
    for (const finding of findings) console.error(`  ${finding}`);
  }
  const seconds = Number((process.hrtime.bigint() - started) / 1_000_000n) / 1_000;
  const summary =
    `${totals.scenarios} scenarios, ${totals.boundaries} boundaries, ${totals.runs} runs, ${totals.crashes} crashes, ${totals.injected} acts meanwhile ` +
    `in ${seconds.toFixed(1)} s: ${totals.duplicates} duplicates, ${totals.lost} lost, ${totals.untrue} untrue, ` +
    `${totals.stuck} stuck, ${totals.broken} broken; ${totals.questions} questions (minimum ${totals.questionsMinimum})`;
  console.log(values.json ? JSON.stringify(totals) : summary);
  // A loop that crashed nothing proves nothing; a single repeated run or a seed may well do without.
  const isVacuous =
    totals.crashes + totals.injected === 0 && values.boundary === undefined && values.seeds === undefined;
  if (isVacuous) console.error('nothing was crashed: no boundary was found');
  const isClean = failures.length === 0 && totals.questions === totals.questionsMinimum && !isVacuous;
  process.exitCode = isClean ? 0 : 1;
}

function tellWindows(found: Windows): void {
  const { windows, applied } = found;
  console.log(
    values.json
      ? JSON.stringify(found)
      : `a machine frozen right before a request to a blind service, and thawed after its successor had cleared it up: ` +
          `${windows} places, applied a second time in ${applied}`,
  );
}

function tellMutants(found: readonly Caught[]): void {
  const caught = found.filter(({ repeat }) => repeat !== null).length;
  const say = values.json ? console.error : console.log;
  for (const { name, repeat, finding } of found) {
    if (repeat === null) say(`MISSED  ${name}\n        ${finding}`);
    else say(`caught  ${name}\n        npm run sim -- --mutant "${name}" ${repeat}\n        ${finding}`);
  }
  const mutants = found.length;
  console.log(
    values.json ? JSON.stringify({ mutants, caught }) : `\n${caught} of ${mutants} planted bugs caught`,
  );
  process.exitCode = caught === mutants ? 0 : 1;
}

/** Every process does the clean runs and counts the same boundaries; what it did beyond them adds up. */
function sum(parts: readonly Totals[]): Totals {
  const [first] = parts;
  if (!first) throw new Error('no process came to its end');
  const total = { ...first };
  for (const { scenarios: _s, boundaries: _b, ...counts } of parts.slice(1)) {
    for (const [name, count] of Object.entries(counts)) total[name as keyof typeof counts] += count;
  }
  return total;
}
