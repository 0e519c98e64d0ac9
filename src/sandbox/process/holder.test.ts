/** What becomes of a sandbox whose worker does not renew, or holds it no more. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { detectCage } from './confine/detect.ts';
import { processesIn } from './open.ts';
import { findPython } from './python.ts';
import { alive, command, unique, until } from './suite-kit.ts';

const detected = await detectCage();
const python = await findPython();
const missing = detected.found ? null : detected.why.join('; ');
const SESSION = 's-holder';
const never = new AbortController().signal;

describe.skipIf(missing !== null)(
  `a sandbox and its holder${missing === null ? '' : ` (${missing})`}`,
  () => {
    const folders: string[] = [];

    beforeAll(() => {
      execFileSync(process.execPath, [
        fileURLToPath(new URL('../../../scripts/ensure.mjs', import.meta.url)),
      ]);
    }, 120_000);
    afterEach(() => {
      for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
    });

    function worker(isHeld: () => boolean, holdMs = 800, dataDir = newFolder()) {
      if (!detected.found) throw new Error('it is skipped');
      const options = { dataDir, holdMs, isHeld: async () => isHeld(), report: () => {} };
      return { processes: processesIn(detected.spec, python, options), dataDir };
    }

    function newFolder(): string {
      const dir = mkdtempSync(join(tmpdir(), 'outlast-holder-'));
      folders.push(dir);
      mkdirSync(join(dir, 'workspace'));
      return dir;
    }

    it('C4 goes on while its holder renews', async () => {
      const { processes, dataDir } = worker(() => true);
      const box = await processes.open(SESSION, 1, join(dataDir, 'workspace'));
      // Three times as long as it would live without: the command itself is the clock.
      const report = await box.run(command('sleep 2.4; echo lives'), never);
      expect(report.output.head).toBe('lives\n');
      await processes.end(SESSION);
      await processes.close();
    });

    it.each([
      ['that is gone', true],
      ['whose session another worker holds', false],
    ])('C4 ends everything without a holder: %s', async (_, isGone) => {
      let isHeld = true;
      const { processes, dataDir } = worker(() => isHeld);
      const box = await processes.open(SESSION, 1, join(dataDir, 'workspace'));
      const text = unique();
      await box.run(command(`(setsid ${text} &); ${text} &`), never);
      await until(() => alive(text).length === 2, 'both run');
      isHeld = false;
      if (isGone) await processes.close();
      await until(() => alive(text).length === 0, 'nothing runs');
      await until(() => !existsSync(join(dataDir, 'run', SESSION, 'socket')), 'nobody listens');
      await processes.close();
    });

    it.skipIf(python === null)(
      'C4 keeps the values of a kernel that nobody holds, and names what it could not keep',
      async () => {
        const { processes, dataDir } = worker(() => true);
        const box = await processes.open(SESSION, 1, join(dataDir, 'workspace'));
        const code = 'kept = [1, 2]\ngen = (i for i in kept)';
        await box.cell({ reference: 'a', cell: 'e1', code, timeoutMs: 10_000 }, never);
        await processes.close();
        await until(() => !existsSync(join(dataDir, 'run', SESSION, 'socket')), 'its supervisor ended');
        const next = worker(() => true, 60_000, dataDir).processes;
        expect(await next.objects(SESSION, 2)).toMatchObject({
          live: [{ name: 'kept', cell: 'e1' }],
          lost: [{ name: 'gen', cell: 'e1', code, why: expect.stringContaining('pickle') }],
        });
        const again = await next.open(SESSION, 2, join(dataDir, 'workspace'));
        const cell = { cell: 'e2', code: 'kept', timeoutMs: 10_000 };
        const told = await again.cell({ ...cell, reference: 'b' }, never);
        expect(told.result).toMatchObject({ ran: false, restored: ['kept'], lost: [{ name: 'gen' }] });
        expect((await again.cell({ ...cell, reference: 'c' }, never)).result?.value).toBe('[1, 2]');
        await next.end(SESSION);
        await next.close();
      },
    );
  },
);
