/** The README's quickstart is a program: it is short, and it does what its comments say. */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { node, root } from './build.ts';

it('the quickstart runs, in under 25 lines', async () => {
  await node('cli/main.js', ['--version']);
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const code = /<!-- quickstart -->\n```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  expect(code.trim().split('\n').length).toBeLessThan(25);

  const folder = await mkdtemp(join(tmpdir(), 'outlast-readme-'));
  try {
    await mkdir(join(folder, 'node_modules'));
    await symlink(root, join(folder, 'node_modules', 'outlast'));
    await symlink(join(root, 'node_modules', 'zod'), join(folder, 'node_modules', 'zod'));
    await writeFile(join(folder, 'quickstart.mjs'), code);
    const { stdout } = await promisify(execFile)(process.execPath, ['quickstart.mjs'], { cwd: folder });
    expect(stdout).toBe('awaiting_input\nstarts turn 2\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
