/** A repository is repaired through three kills, one of them with all its files, judged by its own tests. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

it('green tests, no change twice, nothing untrue, and a flag that was spoken of days before', {
  timeout: 150_000,
}, async () => {
  const { stdout, stderr, code } = await node('demo/repair/main.js', ['--json'], { timeoutMs: 140_000 });
  const said = lastJson(stdout);
  expect(said, stderr).toMatchObject({
    kills: 3,
    workspaceLost: true,
    testsPass: true,
    duplicateEffects: 0,
    untrueClaims: 0,
  });
  expect(said.contexts, stderr).toBeGreaterThanOrEqual(3);
  expect(said.modelCalls, stderr).toBeGreaterThan(20);
  expect(code, stderr).toBe(0);
});
