/** The running total of the kill campaign outlives the campaign: a killed one leaves whole rounds, and the next goes on. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readResults, sumOf } from '../../src/testing/kill/results.ts';
import { lastJson, node, root } from '../build.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outlast-total-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a killed campaign leaves whole rounds, and the next goes on behind them', {
  timeout: 240_000,
}, async () => {
  await node('testing/kill/main.js', ['--help']);
  const file = join(folder, 'total.json');
  const args = ['dist/testing/kill/main.js', '--count', '40', '--workers', '2', '--seed', '4', '--out', file];
  const first = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(first, 'exit');
  for await (const text of first.stderr) if (/, [1-9]\d* rounds/.test(String(text))) break;
  first.kill('SIGKILL');
  await exited;

  const [begun] = readResults(file).invocations;
  // The workers are at different rounds, and the later one may be judged first.
  expect(begun?.totals.rounds).toBeGreaterThan(0);
  expect(begun?.lastRound).toBeGreaterThanOrEqual(begun?.totals.rounds ?? 0);
  expect(begun?.totals.kills).toBeLessThan(40);

  const more = ['--count', '3', '--workers', '1', '--out', file, '--json'];
  const { stdout, stderr, code } = await node('testing/kill/main.js', more, { timeoutMs: 200_000 });
  expect(code, stderr).toBe(0);
  const after = readResults(file).invocations;
  expect(after).toHaveLength(2);
  expect(after[0]).toEqual(begun);
  expect(after[1]).toMatchObject({ seed: 4, code: begun?.code, lastRound: (begun?.lastRound ?? 0) + 1 });
  expect(lastJson(stdout)).toMatchObject({ kills: 3, seed: 4, sameCode: { kills: sumOf(after).kills } });
});
