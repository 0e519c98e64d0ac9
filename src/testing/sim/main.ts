/**
 * `npm run sim`: the crash loop over all scenarios. `--mutants` runs the planted bugs, `--scenario NAME --mode MODE
 * --boundary N --side before|after` repeats one run, `--json` prints the totals as the last line.
 */

import { parseArgs } from 'node:util';
import { inlineSandbox } from '../inline-sandbox.ts';
import { forbidAmbient } from './guard.ts';
import type { Side } from './life.ts';
import { crashLoop, type Failure, type LoopOptions, type Mode } from './loop.ts';
import { MUTANTS } from './mutants.ts';
import { SCENARIOS } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    scenario: { type: 'string' },
    mode: { type: 'string', default: 'crash' },
    boundary: { type: 'string' },
    side: { type: 'string', default: 'before' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `npm run sim -- [options]

Runs every scenario once clean, then once for each boundary and each side of it: with a crash there, with a
machine that freezes there and goes on later, and with a message that arrives there.

  --json                     totals as JSON on the last line
  --full                     both sides of every boundary in every mode, also where they cannot differ
  --mutants                  run the planted bugs; each must be caught
  --scenario NAME            only this scenario
  --mode crash|freeze|send --boundary N --side before|after
                             repeat one run (a failure prints this line)`;

const started = process.hrtime.bigint();
const sandbox = await inlineSandbox();
const common: LoopOptions = {
  scenarios: SCENARIOS.filter(
    (scenario) => values.scenario === undefined || scenario.name === values.scenario,
  ),
  sandbox: () => sandbox,
  full: values.full,
};

if (values.help) console.log(HELP);
else if (values.mutants) await runMutants();
else await runLoop();

async function runLoop(): Promise<void> {
  const { scenario, boundary } = values;
  const only =
    scenario !== undefined && boundary !== undefined
      ? {
          scenario,
          mode: values.mode as Mode,
          crash: { boundary: Number(boundary), side: values.side as Side },
        }
      : null;
  const { totals, failures } = await quietly(() =>
    crashLoop({ ...common, ...(only ? { only } : {}), onRun: values.json ? () => {} : progress }),
  );
  for (const failure of failures) print(failure);
  if (values.json) console.log(JSON.stringify(totals));
  else {
    const seconds = Number((process.hrtime.bigint() - started) / 1_000_000n) / 1_000;
    console.log(
      `\n${totals.scenarios} scenarios, ${totals.boundaries} boundaries, ${totals.runs} runs, ${totals.crashes} crashes ` +
        `in ${seconds.toFixed(1)} s: ${totals.duplicates} duplicates, ${totals.lost} lost, ${totals.untrue} untrue, ` +
        `${totals.stuck} stuck, ${totals.broken} broken; ${totals.questions} questions (minimum ${totals.questionsMinimum})`,
    );
  }
  process.exitCode = failures.length > 0 || totals.questions !== totals.questionsMinimum ? 1 : 0;
}

async function runMutants(): Promise<void> {
  let caught = 0;
  for (const { name, mutation } of MUTANTS) {
    const { failures } = await quietly(() =>
      crashLoop({ ...common, mutation: mutation(), untilFailure: true }),
    );
    const [first] = failures;
    if (first) caught++;
    if (!values.json) console.log(`${first ? 'caught' : 'MISSED'}  ${name}\n        ${first?.repeat ?? ''}`);
  }
  if (values.json) console.log(JSON.stringify({ mutants: MUTANTS.length, caught }));
  else console.log(`\n${caught} of ${MUTANTS.length} planted bugs caught`);
  process.exitCode = caught === MUTANTS.length ? 0 : 1;
}

async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const allow = forbidAmbient();
  try {
    return await work();
  } finally {
    allow();
  }
}

function progress(name: string, done: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${name}: ${done} of ${of}   `);
  else if (done === of) process.stderr.write(`${name}: ${of} sides\n`);
}

function print({ repeat, findings }: Failure): void {
  console.error(`\nnpm run sim -- ${repeat}`);
  for (const finding of findings) console.error(`  ${finding}`);
}
