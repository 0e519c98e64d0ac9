/** Real kills of real servers, judged by the books of the services outside. At size: `npm run kill -- --count 1000`. */

import { expect, it } from 'vitest';
import { lastJson, node } from '../build.ts';

it('a dozen kills leave nothing double, lost or untrue', { timeout: 240_000 }, async () => {
  const { stdout, stderr, code } = await node('testing/kill/main.js', ['--count', '12', '--json'], {
    timeoutMs: 230_000,
  });
  const totals = lastJson(stdout);
  expect(totals, stderr).toMatchObject({
    ...{ kills: 12, duplicates: 0, lost: 0, untrue: 0, stuck: 0, broken: 0 },
    questions: totals.questionsMinimum,
  });
  expect(code, stderr).toBe(0);
});

it('a server that was frozen past its lease adds nothing to its log before it has another', {
  timeout: 240_000,
}, async () => {
  const { stdout, stderr, code } = await node('testing/kill/main.js', ['--freeze', '--seed', '8', '--json'], {
    timeoutMs: 230_000,
  });
  expect(lastJson(stdout), stderr).toMatchObject({
    ...{ freezes: 1, secondServer: 'store.locked', folderUntouched: true },
    ...{ saidUnderOldLease: 0, frozenFindings: 0 },
  });
  expect(code, stderr).toBe(0);
});
