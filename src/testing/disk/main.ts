/**
 * `npm run torn`: a power cut at every point of a recorded workload, and every disk it may leave. `--mutants` runs the
 * planted bugs, `--only N` repeats one disk, `--json` prints the totals as the last line. The disks are shared out to as
 * many processes as there are cores.
 */

import { parseArgs } from 'node:util';
import { type Shard, shardOf, shards, WHOLE } from '../shards.ts';
import { type LoopOptions, type Outcome, tornLoop } from './loop.ts';
import { MUTANTS } from './mutants.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '4' },
    sessions: { type: 'string', default: '3' },
    every: { type: 'string', default: '1' },
    only: { type: 'string' },
    /** `index/of`: one part of the work, for the processes that share it. */
    shard: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `npm run torn -- [options]

Records what the SQLite store writes over three lives, cuts the power after each operation, and opens every disk that this
may leave: unflushed writes missing, cut, zeroed, in another order.

  --json                     totals as JSON on the last line
  --mutants                  run the planted bugs; each must be caught
  --seed S                   another workload, and other random cuts
  --rounds N --sessions N    a longer workload, of more sessions
  --every N                  only each N-th disk
  --only N                   repeat one disk (a failure prints this line)`;

/** What one process has done. */
type Part = { readonly outcome: Outcome } | { readonly caught: readonly Caught[] };
interface Caught {
  readonly name: string;
  /** What gave it away; null when nothing did. */
  readonly finding: string | null;
  readonly judged: number;
}

const started = process.hrtime.bigint();
if (values.help) console.log(HELP);
else if (values.shard !== undefined) console.log(JSON.stringify(await part(shardOf(values.shard))));
else await whole();

async function whole(): Promise<void> {
  const parts = values.only !== undefined ? [await part(WHOLE)] : await shards<Part>();
  if (values.mutants) tellMutants(parts.flatMap((done) => ('caught' in done ? done.caught : [])));
  else tellOutcome(parts.flatMap((done) => ('outcome' in done ? [done.outcome] : [])));
}

async function part(shard: Shard): Promise<Part> {
  const options: LoopOptions = {
    seed: Number(values.seed),
    rounds: Number(values.rounds),
    sessions: Number(values.sessions),
    checkpointAt: 8,
    extra: values.mutants ? 1 : 3,
    every: Number(values.every),
    pairsEach: 10,
    shard,
    ...(values.only === undefined ? {} : { only: Number(values.only) }),
  };
  if (!values.mutants) return { outcome: await tornLoop(options) };
  const caught: Caught[] = [];
  for (const { name, change, rounds = 0 } of MUTANTS.filter((_, index) => index % shard.of === shard.index)) {
    const { failures, totals } = await tornLoop({
      ...options,
      rounds: Math.max(rounds, options.rounds),
      mutant: change,
    });
    caught.push({ name, finding: failures[0]?.findings[0] ?? null, judged: totals.judged });
  }
  return { caught };
}

function tellOutcome(outcomes: readonly Outcome[]): void {
  const totals = sum(outcomes.map((outcome) => outcome.totals));
  for (const { number, at, shape, findings } of outcomes.flatMap((outcome) => outcome.failures)) {
    const workload = `--seed ${values.seed} --rounds ${values.rounds} --sessions ${values.sessions}`;
    console.error(`\nnpm run torn -- ${workload} --only ${number}   # ${shape}, after ${at} operations`);
    for (const finding of findings) console.error(`  ${finding}`);
  }
  const { writes, syncs, logs, commits, erased, entries, batches, disks, judged, secondCuts, failed } =
    totals;
  const seconds = Number((process.hrtime.bigint() - started) / 1_000_000n) / 1_000;
  const summary =
    `${commits} commits (${erased} erased a session), ${entries} entries in the books, ${batches} batches of words, ${writes} writes, ${syncs} flushes, ${logs} logs begun: ${disks} disks, ${judged} opened and ` +
    `${secondCuts} more after a second cut in ${seconds.toFixed(1)} s: ${failed} failed`;
  console.log(values.json ? JSON.stringify(totals) : summary);
  // A loop that cut nothing proves nothing.
  process.exitCode = failed === 0 && judged > 0 ? 0 : 1;
}

function tellMutants(found: readonly Caught[]): void {
  for (const { name, finding, judged } of found) {
    const line = `${finding === null ? 'MISSED' : 'caught'}  ${name}\n        disk ${judged}: ${finding ?? ''}`;
    if (values.json) console.error(line);
    else console.log(line);
  }
  const caught = found.filter(({ finding }) => finding !== null).length;
  const summary = `\n${caught} of ${MUTANTS.length} planted bugs caught`;
  console.log(values.json ? JSON.stringify({ mutants: MUTANTS.length, caught }) : summary);
  process.exitCode = caught === MUTANTS.length ? 0 : 1;
}

/** Every process makes the same record and finds the same disks; what it judged of them adds up. */
function sum(parts: readonly Outcome['totals'][]): Outcome['totals'] {
  const [first] = parts;
  if (!first) throw new Error('no process came to its end');
  const of = (name: 'judged' | 'secondCuts' | 'failed'): number =>
    parts.reduce((total, part) => total + part[name], 0);
  return { ...first, judged: of('judged'), secondCuts: of('secondCuts'), failed: of('failed') };
}
