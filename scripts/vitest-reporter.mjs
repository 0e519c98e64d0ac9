// Owns: the true count of a vitest run. Configured in vitest.config.ts; scripts/test.mjs reads what it leaves.
//
// R1. A module that cannot be collected, a hook that fails, an unhandled error and a test that never came to an
//     end are failures of their own.
// R2. The closing line is printed once: here, unless OUTLAST_COUNTS names a file for the caller who prints it.

import { writeFileSync } from 'node:fs';
import { closingLine } from './closing-line.mjs';

export default class ClosingLineReporter {
  onTestRunEnd(modules, unhandledErrors, reason) {
    const counts = count(modules, unhandledErrors);
    if (reason === 'failed' && counts.failed === 0) counts.failed = 1;
    const file = process.env.OUTLAST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify(counts));
    else process.stdout.write(`${closingLine(counts)}\n`);
  }
}

export function count(modules, unhandledErrors) {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) counts.failed++;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed++;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') counts.passed++;
      else if (state === 'skipped') counts.skipped++;
      else counts.failed++;
    }
  }
  return counts;
}
