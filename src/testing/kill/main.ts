/**
 * `npm run kill`: real servers, killed with SIGKILL at random instants, judged by the books of the services outside.
 *
 * K1  The first Ctrl-C lets the rounds come to their end and prints the totals; the second gives up. Either way, and
 *     also when it is killed itself, no process stays behind, and with `--out` the next invocation goes on (results.ts).
 * K2  A seed repeats what is asked for and when kills are meant to land; where they land is up to the machine.
 * K3  `--freeze`: the embedded store has one process per folder, by a lock that a frozen process keeps. So a second
 *     server cannot take over from a frozen one; it is refused, and after SIGCONT the first goes on (freeze.ts).
 */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { revision } from '../../break/revision.ts';
import { systemClock } from '../../lib/clock.ts';
import { systemEntropy } from '../../lib/entropy.ts';
import { campaign, freezeOnce } from './campaign.ts';
import type { Frozen } from './freeze.ts';
import * as results from './results.ts';
import type { Round } from './round.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string' },
    total: { type: 'string' },
    seed: { type: 'string' },
    round: { type: 'string' },
    workers: { type: 'string' },
    out: { type: 'string' },
    freeze: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Much of a round is waiting: for services that are late, for people, for the end. `docs/design/proof.md` has the figures. */
const WORKERS = 2 * availableParallelism();

const HELP = `npm run kill -- [options]

Real servers with sessions at work, killed with SIGKILL at random instants, also while they recover. Outside is a service
of each kind: one deduplicates by key, one forgets its keys, one can be asked, one can be asked and shows it late, one can
undo, one does none of it, and one does items of a batch and may die in the middle; the judge reads their books. In some
rounds a person is asked before.

  --count N        kills of this invocation (default 50; with --freeze alone none)
  --workers N      servers side by side (default two for each core: ${WORKERS})
  --seed S         repeats what is asked for and when kills are meant to land (default: that of the file, or random)
  --round N        only this round of the seed: what a failure prints
  --out FILE       the running total: adds this invocation to it, round by round, and goes on with the next round
  --total N        with --out, instead of --count: until the file has so many kills of the code as it is now
  --freeze         also freeze a server past its lease: a second one on its folder must be refused with store.locked,
                   and the first must go on
  --json           totals as JSON on the last line

Ctrl-C lets the running rounds end; a second one gives up at once.`;

if (values.help) console.log(HELP);
else process.exitCode = await run();

async function run(): Promise<number> {
  const file = values.out;
  const before: results.Results = file ? results.readResults(file) : { invocations: [] };
  const seed = wholeNumber('seed', values.seed) ?? results.seedIn(before) ?? newSeed();
  const workers = wholeNumber('workers', values.workers) ?? WORKERS;
  const only = wholeNumber('round', values.round);
  const startedAt = new Date(systemClock.now()).toISOString();
  const own: results.Invocation = {
    ...revision(),
    ...{ id: systemEntropy.token(8), seed, startedAt, endedAt: startedAt, workers, lastRound: 0 },
    ...{ totals: results.noTotals(), failures: [] },
  };
  const count = countOf(before, own.code);
  const finishing = new AbortController();
  const giveUp = new AbortController();
  const interrupt = (): void => (finishing.signal.aborted ? giveUp : finishing).abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);

  const started = systemClock.monotonic();
  const seconds = (): number => Math.round((systemClock.monotonic() - started) / 100) / 10;
  const keep = (): void => {
    own.endedAt = new Date(systemClock.now()).toISOString();
    if (file) results.keepResults(file, own);
  };
  let kills = 0;
  const progress = (end: string): void => {
    process.stderr.write(`${kills} of ${count} kills, ${own.totals.rounds} rounds, ${seconds()} s${end}`);
  };
  await campaign({
    ...{ seed, count, workers, only, from: results.nextRound(before, seed) },
    finishing: finishing.signal,
    signal: giveUp.signal,
    onKill() {
      kills++;
      if (process.stderr.isTTY) progress('   \r');
    },
    onRound(round) {
      own.totals = results.added(own.totals, results.totalsOf(round));
      if (only === null) own.lastRound = Math.max(own.lastRound, round.round);
      // First kept, then said: who reads the line may end this process.
      keep();
      progress('\n');
      complain(round, seed);
    },
    onFailure(failure, folder) {
      console.error(`round with findings: session ${failure.session}, kept in ${folder}`);
      own.failures.push(failure);
      keep();
    },
  });
  const frozen = values.freeze && !finishing.signal.aborted ? await freezeOnce(seed, giveUp.signal) : null;
  keep();
  const { totals, failures } = own;
  for (const failure of failures) {
    console.error(`\n${failure.repeat}\n  session ${failure.session}`);
    for (const finding of failure.findings) console.error(`  ${finding}`);
  }
  for (const finding of frozen?.findings ?? []) console.error(`freeze: ${finding}`);
  print(frozen);
  const isClean = failures.length === 0 && (frozen?.findings.length ?? 0) === 0;
  return isClean && !giveUp.signal.aborted ? 0 : 1;

  function print(found: Frozen | null): void {
    const freezes = found && {
      freezes: 1,
      frozenSeconds: found.seconds,
      secondServer: found.second,
      folderUntouched: found.untouched,
      saidUnderOldLease: found.saidUnderOldLease,
      sentUnderOldLease: found.sentUnderOldLease,
      sentUnderNewLease: found.sentUnderNewLease,
      frozenFindings: found.findings.length,
    };
    const { invocations } = file ? results.readResults(file) : { invocations: [] };
    const sameCode = results.sumOf(invocations.filter(({ code }) => code === own.code));
    if (values.json) {
      const kept = file && { sameCode, all: results.sumOf(invocations) };
      const { code } = own;
      console.log(JSON.stringify({ ...totals, seed, code, seconds: seconds(), ...freezes, ...kept }));
      return;
    }
    console.log(`${worded(totals)} In ${seconds()} s, seed ${seed}.`);
    if (file) console.log(`With this code in all: ${worded(sameCode)} ${file}`);
    if (found) {
      console.log(
        `frozen for ${found.seconds} s, longer than its lease: a second server on its folder: ${found.second}, ` +
          `folder ${found.untouched ? 'untouched' : 'CHANGED'}; the first went on, ${found.findings.length} findings; ` +
          `in the log, ${found.saidUnderOldLease} events of its own under the old lease; ` +
          `outside, ${found.sentUnderOldLease} requests left under the old lease after it went on, ` +
          `${found.sentUnderNewLease} under the one that it took anew`,
      );
    }
  }
}

function worded(totals: results.Totals): string {
  return (
    `${totals.kills} kills (${totals.recovering} during recovery) in ${totals.rounds} rounds with ` +
    `${totals.effects} effects, ${totals.inDoubt} sendings left in doubt, ${totals.extras} extras undone, ` +
    `${totals.approvals} approvals: ${totals.duplicates} duplicates, ${totals.lost} lost, ` +
    `${totals.untrue} untrue, ${totals.stuck} stuck, ${totals.broken} broken; ` +
    `${totals.questions} questions (minimum ${totals.questionsMinimum}).`
  );
}

function countOf(before: results.Results, code: string): number {
  const total = wholeNumber('total', values.total);
  if (total === null) return wholeNumber('count', values.count) ?? (values.freeze ? 0 : 50);
  const done = results.sumOf(before.invocations.filter((one) => one.code === code)).kills;
  return Math.max(0, total - done);
}

function complain({ round, findings, restless, session }: Round, seed: number): void {
  for (const note of restless) process.stderr.write(`note: said to rest, and did not: ${note}\n`);
  if (findings.length === 0) return;
  process.stderr.write(`round ${round} of seed ${seed}, session ${session}:\n`);
  for (const finding of findings) process.stderr.write(`  ${finding}\n`);
}

function wholeNumber(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} takes a whole number, not "${text}"`);
  return value;
}

function newSeed(): number {
  return systemEntropy.seed() % 1_000_000;
}
