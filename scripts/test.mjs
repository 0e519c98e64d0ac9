// Owns: `npm test` (everything) and `npm run check` (the quick part). Runs after ensure.mjs has installed.
// Usage: node scripts/test.mjs [check] [vitest arguments]
//
// `check` is format, lint, types, build, tidy, unit tests, examples, and of the crash loop a sample: single crashes at
// every boundary of two small scenarios. The whole loop, pairs, seeds and planted bugs are in `npm test`.
//
// T1. The last line of stdout, alone and once, is the true total: each static check counts as one.
// T2. All steps run even when an early one fails, and the exit code is 0 only if nothing failed.

import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, runInstalled } from './child.mjs';
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

/** Of the crash loop, what `check` runs. */
const SAMPLE = ['effects side by side', 'a blind effect'];
if (isQuick) {
  for (const scenario of SAMPLE) {
    const crashes = ['dist/testing/sim/main.js', '--mode', 'crash', '--scenario', scenario];
    checks[`crash loop: ${scenario}`] = () => run(process.execPath, crashes);
  }
}

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
