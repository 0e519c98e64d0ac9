// What a message costs that wakes a session from each rung: resident, parked, archived. From the call of `send` until the
// model is asked, which is the same work for all of them but for the waking.
//
// P1. The sessions are real: made weeks ago, as their log has it, by processes whose calendar was set back; the policy has
//     parked and archived them since, as it does anywhere.
// P2. One after the other in turn, each by a worker that rests and has a thread ready: resident is the session that the
//     turn before has woken.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { quantile, rounded, spread } from '../kit/spread.mjs';
import { folder } from '../kit/stage.mjs';

export const names = ['wakeResidentMs', 'wakeParkedMs', 'wakeArchivedMs'];

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));
const DAY = 24 * 3_600_000;
/** Of what is archived at the latest after 30 days, and of what is parked after an hour and archived after a day. */
const AGE_MS = { archived: 40 * DAY, parked: DAY / 4 };

export async function measure({ quick = false }) {
  const dir = folder();
  const count = quick ? 3 : 20;
  try {
    const archived = await run('build', dir.path, count, AGE_MS.archived);
    await run('settle', dir.path, 0, 'archived', count);
    const parked = await run('build', dir.path, count, AGE_MS.parked);
    await run('settle', dir.path, 0, 'parked', count);
    const { asked, rungs } = await run('wake', dir.path, JSON.stringify({ archived, parked }));
    return {
      figures: {
        wakeResidentMs: rounded(quantile(asked.resident, 0.5)),
        wakeParkedMs: rounded(quantile(asked.parked, 0.5)),
        wakeArchivedMs: rounded(quantile(asked.archived, 0.5)),
      },
      details: {
        rungs,
        ...Object.fromEntries(Object.entries(asked).map(([rung, times]) => [rung, spread(times)])),
      },
    };
  } finally {
    dir.remove();
  }
}

async function run(...args) {
  const child = spawn(process.execPath, [WORKER, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`${args[0]} ended with ${child.signalCode ?? child.exitCode}`);
  return JSON.parse(said);
}
