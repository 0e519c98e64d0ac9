/** Power cuts in a recorded workload, in a sample. All of them: `npm run torn`. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

const workload = ['--rounds', '2', '--sessions', '3', '--json'];

it('B001 B124 no power cut loses, invents or damages anything', { timeout: 120_000 }, async () => {
  const { stdout, stderr, code } = await node('testing/disk/main.js', [...workload, '--every', '90'], {
    timeoutMs: 110_000,
  });
  const totals = lastJson(stdout);
  expect(code, stderr).toBe(0);
  // Not vacuous: calls were reserved and settled, words indexed, the log began anew several times, and disks were opened, some of them after a second cut.
  expect(totals).toEqual({
    ...{ commits: 12, entries: 11, batches: 6, writes: 348, syncs: 69, logs: 9, disks: 13354 },
    ...{ judged: 149, secondCuts: 90, failed: 0 },
  });
});

it('every planted bug is found', { timeout: 120_000 }, async () => {
  const { stdout, stderr } = await node('testing/disk/main.js', [...workload, '--mutants'], {
    timeoutMs: 110_000,
  });
  const { mutants, caught } = lastJson(stdout);
  expect(Number(mutants)).toBeGreaterThanOrEqual(11);
  expect(caught, stderr).toBe(mutants);
});
