// A store full of parked sessions, each with a transcript and a heap of its own, and the worker that serves it. What each
// figure means stands in README.md.
//
// P1. The sessions are real: one is made by the runtime, with cells, and each other one is a fork of it, by the very events and
//     blobs that `fork` commits. So any of them can be woken, and those that are woken are picked at random.
// P2. Each measurement is a process of its own (worker.mjs), so that none sees what another has left in memory.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile, rounded } from '../kit/spread.mjs';
import { folder } from '../kit/stage.mjs';

export const names = [
  ...['parked', 'workerMb', 'workerMbAt1000', 'workerMbAt10000', 'startMs', 'wakeP50Ms', 'wakeP99Ms'],
  ...['storeBytesPerSession', 'timers', 'timersMs', 'timersAtOnce', 'timersSendMs'],
];

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));

export async function measure({ quick = false, count = quick ? 2_000 : 100_000 }) {
  const dir = folder();
  try {
    const { template } = await run('build', dir.path);
    const sizes = [...new Set([1_000, 10_000, count])].filter((size) => size <= count);
    const at = {};
    let filled = 0;
    for (const size of sizes) {
      const { ms } = await run('fill', dir.path, template, filled, size);
      filled = size;
      at[size] = { fillMs: ms, ...(await run('idle', dir.path)) };
    }
    const storeBytes = bytesIn(dir.path);
    const { wakes, rungs } = await run('wake', dir.path, count, quick ? 40 : 300);
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
      details: { at, storeBytes, rungs, wakes: wakes.length, due },
    };
  } finally {
    dir.remove();
  }
}

async function run(...args) {
  const child = spawn(process.execPath, ['--expose-gc', WORKER, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`${args[0]} ended with ${child.signalCode ?? child.exitCode}`);
  return JSON.parse(said.trim().split('\n').at(-1));
}

function bytesIn(path) {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}
