import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Found, remembered } from './remembered.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-found-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const FOUND: Found = {
  cage: { name: 'namespaces', program: 'unshare', more: [] },
  python: null,
  keeper: { criu: null, why: null },
};
const isFound = (found: Found | null): found is Found => found !== null;

async function looked(env: Record<string, string>, finds: Found | null = FOUND) {
  let looks = 0;
  const find = async () => {
    looks++;
    return finds;
  };
  return { found: await remembered(join(dir, 'run', 'found.json'), env, find, isFound), looks };
}

const isLinux = process.platform === 'linux';
it.skipIf(!isLinux)(
  'R1 what was found is found at once by the next process of the same machine',
  async () => {
    expect(await looked({ PATH: '/usr/bin' })).toEqual({ found: FOUND, looks: 1 });
    expect(await looked({ PATH: '/usr/bin' })).toEqual({ found: FOUND, looks: 0 });
    expect(await looked({ PATH: '/bin' })).toEqual({ found: FOUND, looks: 1 });
    expect(await looked({ PATH: '/bin', OUTLAST_PYTHON: '/opt/python' })).toEqual({ found: FOUND, looks: 1 });
  },
);

it.skipIf(!isLinux)('R1 a package that was installed meanwhile is found', async () => {
  const searched = [join(dir, 'packages'), join(dir, 'absent')];
  mkdirSync(join(dir, 'packages'));
  const python = {
    program: '/usr/bin/python3',
    version: '3.11.2',
    prefixes: ['/usr'],
    packages: [],
    searched,
  };
  const found: Found = { ...FOUND, python };
  expect(await looked({}, found)).toEqual({ found, looks: 1 });
  expect(await looked({}, found)).toEqual({ found, looks: 0 });
  mkdirSync(join(dir, 'packages', 'pandas'));
  expect(await looked({}, found)).toEqual({ found, looks: 1 });
  expect(await looked({}, found)).toEqual({ found, looks: 0 });
});

it.skipIf(!isLinux)('what was not found is looked for again, and so is what cannot be read', async () => {
  expect(await looked({ PATH: '' }, null)).toEqual({ found: null, looks: 1 });
  expect(await looked({ PATH: '' })).toEqual({ found: FOUND, looks: 1 });
  const file = join(dir, 'run', 'found.json');
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, 20));
  expect(await looked({ PATH: '' })).toEqual({ found: FOUND, looks: 1 });
});
