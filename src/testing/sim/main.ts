/**
 * `npm run sim`: the crash loop over all scenarios. `--mutants` runs the planted bugs, `--scenario NAME --mode MODE
 * --boundary N --side before|after` repeats one run, `--json` prints the totals as the last line. The runs are shared out
 * to as many processes as there are cores.
 */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { inlineSandbox } from '../inline-sandbox.ts';
import { shards } from '../shards.ts';
import { forbidAmbient } from './guard.ts';
import type { Side } from './life.ts';
import { crashLoop, type Failure, type LoopOptions, MODES, pairLoop, type Totals, zero } from './loop.ts';
import { MUTANTS } from './mutants.ts';
import { SCENARIOS } from './scenarios.ts';
import { seedRun } from './seeds.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    pairs: { type: 'boolean', default: false },
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
machine that freezes there and goes on later or beside its successor, with somebody else who sends, stops,
interrupts, holds or decides there, and with a clock that jumps there.

  --json                     totals as JSON on the last line
  --full                     both sides of every boundary in every mode, also where they cannot differ
  --pairs                    a crash, and another during its recovery: every pair of the small scenarios, with --full
                             of all (minutes)
  --seeds N --seed S         N random runs from seed S on: crashes, messages, a failing store and provider
  --mutants                  run the planted bugs; each must be caught
  --scenario NAME            only this scenario
  --mode MODE                only this mode: ${MODES.join(', ')}
  --mode MODE --boundary N --side before|after
                             repeat one run (a failure prints this line)`;

/** What one process has done. */
type Part =
  | { readonly totals: Totals; readonly failures: readonly Failure[] }
  | { readonly caught: readonly Caught[] };
type Caught = { readonly name: string; readonly repeat: string | null };

const started = process.hrtime.bigint();
if (values.help) console.log(HELP);
else if (values.shard !== undefined) console.log(JSON.stringify(await part(shardOf(values.shard))));
else await whole();

async function whole(): Promise<void> {
  const isOne = values.boundary !== undefined;
  const parts = isOne
    ? [await part({ index: 0, of: 1 })]
    : await shards<Part>(process.argv.slice(2), availableParallelism(), (line) =>
        process.stderr.write(`${line}\n`),
      );
  if (values.mutants) tellMutants(parts.flatMap((done) => ('caught' in done ? done.caught : [])));
  else tellTotals(parts.flatMap((done) => ('totals' in done ? [done] : [])));
}

async function part(shard: { index: number; of: number }): Promise<Part> {
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
    if (values.mutants) return { caught: await catchMutants(options, shard) };
    if (values.pairs) return await pairLoop(options);
    return values.seeds === undefined ? await crashLoop(options) : await runSeeds(options, shard);
  } finally {
    allow();
  }
}

async function runSeeds(options: LoopOptions, { index, of }: { index: number; of: number }): Promise<Part> {
  const totals = zero();
  const failures: Failure[] = [];
  for (let i = index; i < Number(values.seeds); i += of) {
    await seedRun(Number(values.seed) + i, options.scenarios, options.sandbox, totals, failures);
  }
  return { totals, failures };
}

async function catchMutants(
  options: LoopOptions,
  shard: { index: number; of: number },
): Promise<readonly Caught[]> {
  const caught: Caught[] = [];
  for (const { name, mutation } of MUTANTS.filter((_, i) => i % shard.of === shard.index)) {
    const all = { index: 0, of: 1 };
    const { failures } = await crashLoop({
      ...options,
      shard: all,
      mutation: mutation(),
      untilFailure: true,
    });
    caught.push({ name, repeat: failures[0]?.repeat ?? null });
  }
  return caught;
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

function tellMutants(found: readonly Caught[]): void {
  const caught = found.filter(({ repeat }) => repeat !== null).length;
  for (const { name, repeat } of found) {
    const line = `${repeat === null ? 'MISSED' : 'caught'}  ${name}\n        ${repeat ?? ''}`;
    if (values.json) console.error(line);
    else console.log(line);
  }
  const summary = `\n${caught} of ${MUTANTS.length} planted bugs caught`;
  console.log(values.json ? JSON.stringify({ mutants: MUTANTS.length, caught }) : summary);
  process.exitCode = caught === MUTANTS.length ? 0 : 1;
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

function shardOf(text: string): { index: number; of: number } {
  const [index = 0, of = 1] = text.split('/').map(Number);
  return { index, of };
}
