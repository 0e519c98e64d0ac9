/**
 * `npm run contract`: puts the nine clauses of the resume contract to a runtime.
 *
 * B1  With --json the last line of stdout is one object: `clauses`, `passed`, and the `list`.
 * B2  The exit code is 0 when every clause is kept, 1 when one is not, and 2 for a wrong call.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { revision } from '../../break/revision.ts';
import { systemClock } from '../../lib/clock.ts';
import { CLAUSES, contract, type Result } from './contract.ts';
import { memory, subject as own } from './outlast.ts';
import type { Subject } from './port.ts';

const { values } = parseArgs({
  options: {
    subject: { type: 'string', default: 'outlast' },
    only: { type: 'string' },
    out: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `npm run contract -- [options]

The resume contract: nine clauses about what a runtime keeps through crashes, judged by the books of services that it cannot
see into.

${CLAUSES.map(({ name, title }, i) => `  ${i + 1}  ${name}: ${title}`).join('\n')}

  --subject NAME   outlast (default), memory, langgraph (installs it in bench/langgraph when it is missing),
                   or a file that exports \`subject\` (see src/testing/contract/port.ts)
  --only NAMES     these clauses, by number, with commas
  --out FILE       the verdict with versions, settings and date, as JSON
  --json           the verdict as JSON on the last line`;

if (values.help) console.log(HELP);
// By force: what was killed inside this process still waits.
else process.exit(await run());

async function run(): Promise<number> {
  const subject = await find(values.subject);
  const only = values.only?.split(',').map((n) => CLAUSES[Number(n) - 1]?.name ?? '');
  if (only?.includes('')) {
    process.stderr.write(`--only takes numbers of 1 to ${CLAUSES.length}\n`);
    return 2;
  }
  const started = systemClock.monotonic();
  const verdict = await contract(subject, { onResult: tell, ...(only ? { only } : {}) });
  const seconds = Math.round((systemClock.monotonic() - started) / 100) / 10;
  const date = new Date(systemClock.now()).toISOString().slice(0, 10);
  const { code, campaign } = revision();
  // Another runtime has a version of its own; of ours these are the bytes.
  const tested = subject === own || subject === memory ? { code, campaign } : { campaign };
  if (values.out) {
    const kept = { date, node: process.version, platform: process.platform, ...tested, ...verdict };
    writeFileSync(values.out, `${JSON.stringify(kept, null, 2)}\n`);
  }
  if (values.json) console.log(JSON.stringify({ ...tested, ...verdict, seconds }));
  else
    console.log(
      `${verdict.subject} ${verdict.version}: ${verdict.passed} of ${verdict.clauses}, ${seconds} s`,
    );
  return verdict.passed === verdict.clauses ? 0 : 1;
}

function tell({ name, passed, detail, evidence }: Result): void {
  process.stderr.write(`${passed ? '✓' : '✗'} ${name}${passed ? '' : `: ${detail}`}\n`);
  for (const line of evidence) process.stderr.write(`    ${line}\n`);
}

async function find(name: string): Promise<Subject> {
  if (name === 'outlast') return own;
  if (name === 'memory') return memory;
  const path = name === 'langgraph' ? langgraph() : resolve(name);
  const { subject } = (await import(pathToFileURL(path).href)) as { readonly subject?: Subject };
  if (!subject) throw new Error(`${name} exports no \`subject\``);
  return subject;
}

/** Only in a clone: the package does not carry other people's runtimes. */
function langgraph(): string {
  const folder = fileURLToPath(new URL('../../../bench/langgraph/', import.meta.url));
  if (!existsSync(`${folder}node_modules/@langchain/langgraph`)) {
    process.stderr.write('installing LangGraph.js in bench/langgraph …\n');
    const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error('LangGraph.js could not be installed; look at the lines above');
  }
  return `${folder}subject.mjs`;
}
