/** A report by six children, whose server is killed at random, judged by all logs and by the books of the service. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

it('six spawned, six results, none orphaned, nothing twice', { timeout: 150_000 }, async () => {
  const { stdout, stderr, code } = await node('demo/delegate/main.js', ['--json'], { timeoutMs: 140_000 });
  const said = lastJson(stdout);
  expect(said, stderr).toMatchObject({ spawned: 6, results: 6, orphans: 0, duplicates: 0 });
  expect(said.kills, stderr).toBeGreaterThanOrEqual(3);
  expect(code, stderr).toBe(0);
});
