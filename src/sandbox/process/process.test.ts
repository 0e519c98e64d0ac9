import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll } from 'vitest';
import { detectCage } from './confine/detect.ts';
import { findKeeper, parkingOf } from './image/detect.ts';
import { hasProgram } from './limits.ts';
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

const best = await detectCage();

const keeper = await findKeeper();

const noKeeper = keeper.criu ? null : parkingOf(keeper, 'bubblewrap');

const adapters = [
  ['bubblewrap', false],
  ['bubblewrap', true],
  ['namespaces', false],
  ['none', false],
] as const;

for (const [confinement, isWhole] of adapters) {
  const detected = await detectCage(confinement);
  const isBest = best.found ? best.spec.name === confinement : confinement === 'none';
  processSuite({
    name: isWhole ? `${confinement}, kernels parked whole` : confinement,
    missing: detected.found ? (isWhole ? noKeeper : null) : detected.why.join('; '),
    skips: {
      ...(confinement === 'none' ? OPEN : {}),
      ...(hasProgram('script') ? {} : { pty: 'script of util-linux is not here' }),
      ...(python === null ? { python: 'no CPython was found' } : {}),
      ...(isBest ? {} : { python: 'the kernel is tried behind the strongest wall' }),
    },
    async open(limits = {}) {
      const dataDir = mkdtempSync(join(tmpdir(), 'outlast-process-'));
      const workspace = join(dataDir, 'workspace');
      mkdirSync(workspace);
      if (!detected.found) throw new Error('it is skipped');
      const { spec } = detected;
      const isHeld = async () => true;
      const imageKey = () => new Uint8Array(32).fill(1);
      const worker = () =>
        processesIn(
          spec,
          python,
          { dataDir, limits, isHeld, imageKey, report: () => {} },
          isWhole ? keeper : undefined,
        );
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
