/** Power cuts in a recorded workload, in a sample. All of them: `npm run torn`. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

const workload = ['--rounds', '2', '--sessions', '3', '--json'];

it('B001 B124 no power cut loses, invents or damages anything', { timeout: 120_000 }, async () => {
  const { stdout, stderr, code } = await node('testing/disk/main.js', [...workload, '--every', '60'], {
    timeoutMs: 110_000,
  });
  const totals = lastJson(stdout);
  expect(code, stderr).toBe(0);
  // Not vacuous: the log began anew several times, a session was erased, and disks were opened, some of them after a second cut.
  expect(totals).toEqual({
    ...{ commits: 15, erased: 1, writes: 251, syncs: 53, logs: 4, disks: 9198 },
    ...{ judged: 154, secondCuts: 96, failed: 0 },
  });
});

it('every planted bug is found', { timeout: 120_000 }, async () => {
  const { stdout, stderr } = await node('testing/disk/main.js', [...workload, '--mutants'], {
    timeoutMs: 110_000,
  });
  const { mutants, caught } = lastJson(stdout);
  expect(Number(mutants)).toBeGreaterThanOrEqual(8);
  expect(caught, stderr).toBe(mutants);
});
