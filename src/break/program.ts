/**
 * `outlast break`, `npm run break`: workers that die at every boundary, services of every kind, eight strategies, and a judge
 * that reads the services' own books.
 *
 * K1  Ctrl-C ends it at once; no process stays behind.
 * K2  With --json the last line of stdout is one object; what people read meanwhile is on stderr.
 * K3  It fails if Outlast is wrong anywhere, or if any strategy does not do what theory says of it (`verdict.ts`).
 */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bench } from './bench.ts';
import { foretold } from './foretold.ts';
import { kept } from './kept.ts';
import { page } from './page.ts';
import { loadSubject } from './subject.ts';
import { benchOf } from './subject-bench.ts';
import { table } from './table.ts';
import { ABLATIONS, BOUNDARIES, SERVICES, STRATEGIES, VARIANTS } from './terms.ts';
import { complaintsOf } from './verdict.ts';

const HELP = `outlast break [options]      (in a clone: npm run break -- [options])

Runs a small job, lets its worker die at every boundary of an effect, and looks into the service's own books: what was
done twice, what was lost, what people were told that is not so, and what they were asked. Each under eight strategies.

  --quick             a short look, under a minute: one round, what theory says is telling
  --rounds N          runs of each cell (default 3; with --quick 1)
  --seed S            another seed; runs of one cell have the same under every strategy (default 1)
  --strategy A,B      only these: ${names(STRATEGIES)}; and
                      ${names(ABLATIONS)}
  --service A,B       only these: ${names(SERVICES)}
  --boundary A,B      only these: ${names(BOUNDARIES)}
  --with FILE         your own tools instead of the built-in services; see docs/design/break.md
  --no-kill           without the share with real processes and SIGKILL
  --html FILE         the results as a page
  --out FILE          the results as JSON
  --predictions       what theory says, as tables, and nothing is run
  --json              the results as JSON on the last line

Exit code 1 when Outlast duplicates, loses or tells something wrong, asks more than it must, or when any cell is not as
theory says, at the second time either.`;

function names(list: readonly { readonly name: string }[]): string {
  return list.map(({ name }) => name).join(' ');
}

const OPTIONS = {
  json: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  seed: { type: 'string', default: '1' },
  strategy: { type: 'string' },
  service: { type: 'string' },
  boundary: { type: 'string' },
  with: { type: 'string' },
  'no-kill': { type: 'boolean', default: false },
  html: { type: 'string' },
  out: { type: 'string' },
  predictions: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const USAGE = 2;
const INTERRUPTED = 130;

/** Gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    return await run(parseArgs({ args: [...args], options: OPTIONS }).values);
  } catch (error) {
    const isUsage =
      error instanceof WrongUse || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
    console.error(error instanceof Error ? (isUsage ? error.message : error.stack) : error);
    return isUsage ? USAGE : 1;
  }
}

class WrongUse extends Error {}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

async function run(values: Values): Promise<number> {
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (values.predictions) {
    for (const variant of VARIANTS) console.log(`\nvariant \`${variant}\`\n\n${foretold(variant)}`);
    return 0;
  }
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const options = {
    strategies: chosen('strategy', values.strategy, [...STRATEGIES, ...ABLATIONS]),
    services: chosen('service', values.service, SERVICES),
    boundaries: chosen('boundary', values.boundary, BOUNDARIES),
    quick: values.quick,
    rounds: whole('rounds', values.rounds) ?? (values.quick ? 1 : 3),
    seed: whole('seed', values.seed) ?? 1,
    kills: !values['no-kill'],
    signal: stop.signal,
    onProgress: progress(),
  };
  const results = values.with ? await benchOf(await loadSubject(values.with), options) : await bench(options);
  if (process.stderr.isTTY) process.stderr.write('\n');
  if (stop.signal.aborted) return INTERRUPTED;
  const say = values.json ? console.error : console.log;
  say(table(results));
  if (values.html) writeFileSync(values.html, page(results));
  if (values.out) writeFileSync(values.out, kept(results));
  if (values.json) console.log(JSON.stringify(results));
  for (const finding of results.findings) console.error(finding);
  const complaints = complaintsOf(results, values.with !== undefined);
  for (const complaint of complaints) console.error(`not as it must be: ${complaint}`);
  return complaints.length > 0 ? 1 : 0;
}

function progress(): (done: number, of: number) => void {
  let told = -1;
  return (done, of) => {
    const tenth = Math.floor((10 * done) / of);
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of} runs `);
    else if (tenth !== told) process.stderr.write(`${done} of ${of} runs\n`);
    told = tenth;
  };
}

function chosen(
  what: string,
  text: string | undefined,
  from: readonly { readonly name: string }[],
): readonly string[] {
  const wanted = text?.split(',').filter((name) => name !== '') ?? [];
  const strange = wanted.filter((name) => !from.some((one) => one.name === name));
  if (strange.length > 0)
    throw new WrongUse(`there is no ${what} "${strange.join(', ')}"; there are ${names(from)}`);
  return wanted;
}

function whole(what: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new WrongUse(`--${what} takes a whole number from 1, not "${text}"`);
  return value;
}
