// A store full of parked sessions, each with a transcript and a heap of its own, and the worker that serves it. What each
// figure means stands in README.md.
//
// P1. The sessions are real: one is made by the runtime, with cells, and each other one is a fork of it, by the very events and
//     blobs that `fork` commits. So any of them can be woken, and those that are woken are picked at random.
// P2. A run in a folder that stays goes on where an earlier one was ended: what it has made and taken stands there.
// P3. Each measurement is a process of its own (worker.mjs), so that none sees what another has left in memory.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile, rounded, spread } from '../kit/spread.mjs';
import { folder } from '../kit/stage.mjs';

export const names = [
  ...['parked', 'workerMb', 'workerMbAt1000', 'workerMbAt10000', 'startMs', 'wakeP50Ms', 'wakeP99Ms'],
  ...['storeBytesPerSession', 'timers', 'timersMs', 'timersAtOnce', 'timersSendMs'],
];

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));
/** Between two wakes: by then the worker rests again, and has a thread ready. */
const PAUSE_MS = 700;

export async function measure({ quick = false, count = quick ? 2_000 : 100_000, dir: given }) {
  const dir = given === undefined ? folder() : kept(given);
  try {
    const { template, at } = await full(dir.path, count);
    const storeBytes = bytesIn(dir.path);
    const rounds = quick ? 30 : 150;
    const { wakes, rungs } = await run('wake', dir.path, count, rounds, PAUSE_MS, 0);
    const busy = await run('wake', dir.path, count, rounds, 0, 1);
    const timers = await run('sleepers', dir.path, quick ? 60 : 1_000, quick ? 8_000 : 45_000);
    const due = await run('due', dir.path, timers.timers, timers.dueAt);
    return {
      figures: {
        parked: count,
        workerMb: at[count].mb,
        workerMbAt1000: at[1_000]?.mb ?? null,
        workerMbAt10000: at[10_000]?.mb ?? null,
        startMs: at[count].startMs,
        wakeP50Ms: rounded(quantile(wakes, 0.5)),
        wakeP99Ms: rounded(quantile(wakes, 0.99)),
        storeBytesPerSession: Math.round(storeBytes / count),
        timers: timers.timers,
        timersMs: due.ms,
        timersAtOnce: due.atOnce,
        timersSendMs: due.sendMs,
      },
      details: { template, at, storeBytes, rungs, wakes: spread(wakes), busyWakes: spread(busy.wakes), due },
    };
  } finally {
    dir.remove();
  }
}

/** A folder that stays, so that a run that was ended is gone on with. */
function kept(path) {
  mkdirSync(path, { recursive: true });
  return { path, remove: () => {} };
}

/** As many sessions as are wanted, with what a worker takes at each size; what an earlier run has done is not done again. */
async function full(path, count) {
  const note = join(path, 'parked.json');
  const known = existsSync(note)
    ? JSON.parse(readFileSync(note, 'utf8'))
    : { at: {}, ...(await run('build', path)) };
  const keep = () => writeFileSync(note, JSON.stringify(known));
  keep();
  const sizes = [...new Set([1_000, 10_000, count])].filter((size) => size <= count && !known.at[size]);
  for (const size of sizes) {
    const { ms, made, filled } = await run('fill', path, known.template, size);
    if (filled < size)
      throw new Error(`ended at ${filled} sessions; with --dir the next run goes on from there`);
    known.at[size] = { fillMs: ms, made, ...(await run('idle', path)) };
    keep();
  }
  return known;
}

/** Somebody has: that is no fault with a place in the program. */
const ended = (where) => Object.assign(new Error(`ended ${where}`), { isEnded: true });

async function run(...args) {
  const child = spawn(process.execPath, ['--expose-gc', WORKER, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Whoever ends this process ends it as well; one that fills the store comes to the end of its batch first.
  const interrupt = () => child.kill('SIGINT');
  process.on('SIGINT', interrupt);
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await once(child, 'close');
  process.off('SIGINT', interrupt);
  if (child.signalCode === 'SIGINT') throw ended(`while it took "${args[0]}"`);
  if (child.exitCode !== 0) throw new Error(`${args[0]} ended with ${child.signalCode ?? child.exitCode}`);
  return JSON.parse(said.trim().split('\n').at(-1));
}

function bytesIn(path) {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}
