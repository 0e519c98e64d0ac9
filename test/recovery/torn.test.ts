/** Power cuts in a recorded workload, in a sample. All of them: `npm run torn`. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

const workload = ['--rounds', '2', '--sessions', '3', '--json'];
/** One in which there is something of everything. */
const SEED = ['--seed', '2'];

it('B001 B124 no power cut loses, invents or damages anything', { timeout: 120_000 }, async () => {
  const { stdout, stderr, code } = await node(
    'testing/disk/main.js',
    [...workload, ...SEED, '--every', '110'],
    {
      timeoutMs: 110_000,
    },
  );
  const totals = lastJson(stdout);
  expect(code, stderr).toBe(0);
  // Not vacuous: calls were reserved and settled, words indexed, a session erased, the log began anew several times, and disks were opened, some of them after a second cut.
  expect(totals).toEqual({
    ...{ commits: 16, erased: 1, entries: 16, batches: 5, writes: 415, syncs: 71, logs: 9, disks: 18054 },
    ...{ judged: 165, secondCuts: 102, failed: 0 },
  });
});

it('every planted bug is found', { timeout: 120_000 }, async () => {
  const { stdout, stderr } = await node('testing/disk/main.js', [...workload, '--mutants'], {
    timeoutMs: 110_000,
  });
  const { mutants, caught } = lastJson(stdout);
  expect(Number(mutants)).toBeGreaterThanOrEqual(12);
  expect(caught, stderr).toBe(mutants);
});
