/** The main job through three real kills, judged by the services' own books. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

it('February, then March, through three kills', { timeout: 120_000 }, async () => {
  const { stdout, stderr, code } = await node('demo/main.js', ['--json'], { timeoutMs: 110_000 });
  expect(lastJson(stdout), stderr).toMatchObject({
    turns: 3,
    kills: 3,
    mailsSent: 1,
    authCalls: [3, 0, 0],
    accountLookups: [1, 0, 0],
    liveObjectsKept: true,
    reportsRight: true,
  });
  expect(code, stderr).toBe(0);
});
