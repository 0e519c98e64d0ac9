/** The crash loop as a user runs it: every boundary, nothing twice, nothing lost, nothing untrue. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

it('every boundary of every scenario, on both sides', { timeout: 3_010_000 }, async () => {
  const { stdout, stderr, code } = await node('testing/sim/main.js', ['--json'], { timeoutMs: 3_000_000 });
  const totals = lastJson(stdout);
  expect(totals, stderr).toMatchObject({ duplicates: 0, lost: 0, untrue: 0, stuck: 0, broken: 0 });
  expect(totals.questions).toBe(totals.questionsMinimum);
  // Not vacuous: the crashes really happened, and so did what others did meanwhile.
  expect(Number(totals.crashes) + Number(totals.injected)).toBeGreaterThan(Number(totals.boundaries));
  expect(Number(totals.crashes)).toBeGreaterThan(500);
  expect(Number(totals.injected)).toBeGreaterThan(500);
  expect(code).toBe(0);
});

it('a crash during recovery: every pair of the small scenarios', { timeout: 1_810_000 }, async () => {
  const { stdout, stderr, code } = await node('testing/sim/main.js', ['--pairs', '--json'], {
    timeoutMs: 1_800_000,
  });
  const totals = lastJson(stdout);
  expect(totals, stderr).toMatchObject({ duplicates: 0, lost: 0, untrue: 0, stuck: 0, broken: 0 });
  expect(totals.questions).toBe(totals.questionsMinimum);
  expect(Number(totals.crashes)).toBeGreaterThan(2_000);
  expect(code).toBe(0);
});

it('seeded storms heal, and each seed leaves one trace', { timeout: 1_810_000 }, async () => {
  const { stdout, stderr } = await node('testing/sim/main.js', ['--seeds', '60', '--json'], {
    timeoutMs: 1_800_000,
  });
  expect(lastJson(stdout), stderr).toMatchObject({
    runs: 60,
    duplicates: 0,
    lost: 0,
    untrue: 0,
    stuck: 0,
    broken: 0,
  });
});

it('every planted bug is caught', { timeout: 3_010_000 }, async () => {
  const { stdout, stderr } = await node('testing/sim/main.js', ['--mutants', '--json'], {
    timeoutMs: 3_000_000,
  });
  const { mutants, caught } = lastJson(stdout);
  expect(Number(mutants)).toBeGreaterThanOrEqual(110);
  expect(caught, stderr).toBe(mutants);
});
