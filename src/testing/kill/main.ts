/**
 * `npm run kill`: real servers, killed with SIGKILL at random instants, judged by the books of the services outside.
 *
 * K1  The first Ctrl-C lets the rounds come to their end and prints the totals; the second gives up. Either way no
 *     process stays behind.
 * K2  A seed repeats what is asked for and when kills are meant to land; where they land is up to the machine.
 * K3  `--freeze`: the embedded store has one process per folder, by a lock that a frozen process keeps. So a second
 *     server cannot take over from a frozen one; it is refused, and after SIGCONT the first goes on (freeze.ts).
 */

import { parseArgs } from 'node:util';
import { systemClock } from '../../lib/clock.ts';
import { systemEntropy } from '../../lib/entropy.ts';
import { campaign, freezeOnce, fresh, keep, readKept } from './campaign.ts';
import type { Frozen } from './freeze.ts';
import type { Round } from './round.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string' },
    seed: { type: 'string' },
    round: { type: 'string' },
    workers: { type: 'string', default: '2' },
    resume: { type: 'string' },
    out: { type: 'string' },
    freeze: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `npm run kill -- [options]

Real servers with sessions at work, killed with SIGKILL at random instants, also while they recover. Outside are a
billing service (an extra can be undone), a payment-like one (deduplicates), a mailing one (can be asked) and a blind
one; the judge reads their books.

  --count N        kills in all (default 50; with --freeze alone none)
  --workers N      servers side by side (default 2)
  --seed S         repeats what is asked for and when kills are meant to land (default random)
  --round N        only this round of the seed: what a failure prints
  --out FILE       totals and failures, kept after every round
  --resume FILE    goes on with the campaign that is kept there, or begins one
  --freeze         also freeze a server past its lease: a second one on its folder must be refused with store.locked,
                   and the first must go on
  --json           totals as JSON on the last line

Ctrl-C lets the running rounds end; a second one gives up at once.`;

if (values.help) console.log(HELP);
else process.exitCode = await run();

async function run(): Promise<number> {
  const file = values.resume ?? values.out;
  const kept =
    (values.resume && readKept(values.resume)) || fresh(wholeNumber('seed', values.seed) ?? newSeed());
  const { totals, failures } = kept;
  const before = totals.kills;
  const count = wholeNumber('count', values.count) ?? (values.freeze ? 0 : 50);
  const finishing = new AbortController();
  const giveUp = new AbortController();
  const interrupt = (): void => (finishing.signal.aborted ? giveUp : finishing).abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);

  const started = systemClock.monotonic();
  const seconds = (): number => Math.round((systemClock.monotonic() - started) / 100) / 10;
  let kills = 0;
  const progress = (end: string): void => {
    process.stderr.write(
      `${before + kills} of ${count} kills, ${totals.rounds} rounds, ${seconds()} s${end}`,
    );
  };
  await campaign({
    kept,
    count,
    workers: wholeNumber('workers', values.workers) ?? 2,
    only: wholeNumber('round', values.round),
    finishing: finishing.signal,
    signal: giveUp.signal,
    onKill() {
      kills++;
      if (process.stderr.isTTY) progress('   \r');
    },
    onRound(round) {
      progress('\n');
      complain(round, totals.seed);
      if (file) keep(file, kept);
    },
  });
  const frozen =
    values.freeze && !finishing.signal.aborted ? await freezeOnce(totals.seed, giveUp.signal) : null;
  if (file) keep(file, kept);
  for (const failure of failures) {
    console.error(`\n${failure.repeat}\n  session ${failure.session}, kept in ${failure.folder}`);
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
      sentUnderOldLease: found.sentUnderOldLease,
      sentUnderNewLease: found.sentUnderNewLease,
      frozenFindings: found.findings.length,
    };
    if (values.json) {
      console.log(JSON.stringify({ ...totals, seconds: seconds(), ...freezes }));
      return;
    }
    console.log(
      `${totals.kills} kills (${totals.early} during recovery) in ${totals.rounds} rounds with ${totals.effects} effects, ` +
        `${totals.inDoubt} left in doubt, ${totals.extras} extras undone, ` +
        `${seconds()} s, seed ${totals.seed}: ${totals.duplicates} duplicates, ${totals.lost} lost, ` +
        `${totals.untrue} untrue, ${totals.stuck} stuck, ${totals.broken} broken; ` +
        `${totals.questions} questions (minimum ${totals.questionsMinimum})`,
    );
    if (found) {
      console.log(
        `frozen for ${found.seconds} s, longer than its lease: a second server on its folder: ${found.second}, ` +
          `folder ${found.untouched ? 'untouched' : 'CHANGED'}; the first went on, ${found.findings.length} findings; ` +
          `outside, ${found.sentUnderOldLease} requests left under the old lease after it went on, ` +
          `${found.sentUnderNewLease} under the one that it took anew`,
      );
    }
  }
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
