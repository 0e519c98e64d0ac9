/** What is found of programs that keep whole processes, with programs that really run. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { processesIn } from '../open.ts';
import { findKeeper, parkingOf } from './detect.ts';

const folders: string[] = [];

afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A `PATH` with these programs and nothing else of their names. */
function machine(programs: Readonly<Record<string, string>>) {
  const dir = mkdtempSync(join(tmpdir(), 'outlast-keeper-'));
  folders.push(dir);
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(dir, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, name), 0o755);
  }
  return { PATH: dir };
}

const criu = (version: string, check = 'echo "Looks good."') =>
  `case "$1" in --version) echo "Version: ${version}"; echo "GitID: v${version}";; check) ${check};; *) exit 9;; esac`;

const said = async (programs: Readonly<Record<string, string>>, isRoot = true): Promise<string> =>
  parkingOf(await findKeeper(machine(programs), isRoot), 'bubblewrap');

describe('what keeps a kernel that is parked', () => {
  it('is criu from 4.1 on, where it says that it works', async () => {
    for (const version of ['4.1', '4.1.1', '4.10', '5.0']) {
      expect(await said({ criu: criu(version) })).toBe(
        `Python is parked as a whole process, by criu ${version}`,
      );
    }
  });

  it('is not an older one, nor one without root, nor one that does not work here, and why is said', async () => {
    const value = 'Python is parked by value (criu';
    expect(await said({ criu: criu('3.17.1') })).toBe(`${value} 3.17.1 is here, and 4.1 or newer is needed)`);
    expect(await said({ criu: criu('4.0') })).toBe(`${value} 4.0 is here, and 4.1 or newer is needed)`);
    expect(await said({ criu: criu('4.2') }, false)).toBe(`${value} 4.2 is here, and it needs root)`);
    const broken = 'echo first >&2; echo "Error (criu/vdso.c:381): vdso" >&2; exit 1';
    expect(await said({ criu: criu('4.2', broken) })).toBe(
      `${value} 4.2 is here, and does not work on this machine: Error (criu/vdso.c:381): vdso)`,
    );
  });

  it('is used behind bubblewrap only', async () => {
    const keeper = await findKeeper(machine({ criu: criu('4.2') }), true);
    expect(parkingOf(keeper, 'namespaces')).toMatch(/by value \(criu 4\.2 is here, and is used behind/);
  });

  it('is not used where no key seals what it writes, as by hands', async () => {
    const criu = { program: 'criu', version: '4.2' };
    const spec = { name: 'bubblewrap', program: 'bwrap', more: [] } as const;
    const keepsWhole = async (more: { imageKey?: () => Uint8Array }) => {
      const { PATH: dataDir } = machine({});
      const options = { dataDir, isHeld: async () => true, report: () => {}, ...more };
      const processes = processesIn(spec, null, options, { criu });
      await processes.close();
      return processes.abilities.keepsWhole;
    };
    expect(await keepsWhole({ imageKey: () => new Uint8Array(32) })).toBe('criu 4.2');
    expect(await keepsWhole({})).toBeNull();
  });

  it('is nothing to speak of where there is none; gVisor is named, and not used', async () => {
    expect(await said({})).toBe('Python is parked by value');
    expect(await said({ runsc: 'echo "runsc version release-20240729.0"; echo "spec: 1.1.0"' })).toBe(
      'Python is parked by value (gVisor release-20240729.0 is here, and is not used)',
    );
  });

  it('is the one that the environment names', async () => {
    const { PATH } = machine({ own: criu('4.3'), criu: criu('3.0') });
    expect(await findKeeper({ PATH, OUTLAST_CRIU: join(PATH, 'own') }, true)).toEqual({
      criu: { program: join(PATH, 'own'), version: '4.3' },
      why: null,
    });
  });
});
