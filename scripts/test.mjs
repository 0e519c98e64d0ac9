// Owns: `npm test` (everything) and `npm run check` (the quick part). Runs after ensure.mjs has installed.
// Usage: node scripts/test.mjs [check] [vitest arguments]
//
// T1. The last line of stdout, alone and once, is the true total: each static check counts as one.
// T2. All steps run even when an early one fails, and the exit code is 0 only if nothing failed.

import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInstalled } from './child.mjs';
import { closingLine } from './closing-line.mjs';
import { ensure } from './ensure.mjs';

const isQuick = process.argv[2] === 'check';
const vitestArgs = process.argv.slice(isQuick ? 3 : 2);
const quickProjects = ['tidy', 'unit', 'examples'].map((name) => `--project=${name}`);

const colors = process.stderr.isTTY ? 'force' : 'off';
const lint = ['ci', '--error-on-warnings', `--colors=${colors}`];

const checks = {
  'format and lint': () => runInstalled('@biomejs/biome/bin/biome', lint),
  types: () => runInstalled('typescript/bin/tsc', ['--noEmit']),
  build: async () => ((await ensure()) ? 0 : 1),
};

const total = { passed: 0, failed: 0, skipped: 0 };
for (const [name, check] of Object.entries(checks)) {
  const isGreen = (await check()) === 0;
  total[isGreen ? 'passed' : 'failed']++;
  console.log(`${isGreen ? '✓' : '✗'} ${name}`);
}
const tests = await vitest();
for (const key of Object.keys(total)) total[key] += tests[key];
console.log(closingLine(total));
process.exitCode = total.failed > 0 ? 1 : 0;

/** The counts of a vitest run. One that ends badly without a failed test (a crash, no test found) is one failure. */
async function vitest() {
  const file = join(tmpdir(), `outlast-counts-${process.pid}.json`);
  const args = ['run', ...(isQuick ? quickProjects : []), ...vitestArgs];
  const code = await runInstalled('vitest/vitest.mjs', args, { env: { OUTLAST_COUNTS: file } });
  const counts = read(file) ?? { passed: 0, failed: 0, skipped: 0 };
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  } finally {
    rmSync(file, { force: true });
  }
}
