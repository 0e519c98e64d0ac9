import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll } from 'vitest';
import { detectCage } from './confine/detect.ts';
import { processesIn } from './open.ts';
import { findPython } from './python.ts';
import { processSuite } from './suite.ts';

beforeAll(() => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../../scripts/ensure.mjs', import.meta.url))]);
}, 120_000);

const python = await findPython();

const OPEN = {
  walls: 'there are none',
  bounds: 'without a cgroup nobody can tell its processes from others',
};

for (const confinement of ['bubblewrap', 'namespaces', 'none'] as const) {
  const detected = await detectCage(confinement);
  processSuite({
    name: confinement,
    missing: detected.found ? null : detected.why.join('; '),
    skips: {
      ...(confinement === 'none' ? OPEN : {}),
      ...(python === null ? { python: 'no CPython was found' } : {}),
    },
    async open(limits = {}) {
      const dataDir = mkdtempSync(join(tmpdir(), 'outlast-process-'));
      const workspace = join(dataDir, 'workspace');
      mkdirSync(workspace);
      if (!detected.found) throw new Error('it is skipped');
      const { spec } = detected;
      const worker = () =>
        processesIn(spec, python, { dataDir, limits, isHeld: async () => true, report: () => {} });
      const processes = worker();
      return {
        processes,
        workspace,
        again: async () => worker(),
        async dispose() {
          await processes.close();
          rmSync(dataDir, { recursive: true, force: true });
        },
      };
    },
  });
}
