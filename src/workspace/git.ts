/** Git remotes as places to take files from and to give them to. The `git` of the machine does it, and asks nobody. */

import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OutlastError } from '../core/error.ts';
import type { Tree } from '../core/workspace/tree.ts';
import type { Restored } from './port.ts';

const run = promisify(execFile);
const LIMIT_MS = 5 * 60_000;

/** A URL that git knows, or `user@host:path`; a path of this machine only as `file://`. */
export const isRemote = (text: string): boolean =>
  /^(https?|ssh|git|file):\/\//.test(text) || /^[\w.-]+@[\w.-]+:/.test(text);

/** The whole repository, so that it goes on as one. */
export async function cloned(remote: string, folder: string): Promise<string> {
  await git(['clone', '--quiet', '--', remote, folder]);
  return folder;
}

/** On a branch of its own: nothing that stands there is moved. Says which. */
export async function pushed(
  remote: string,
  aside: string,
  tree: Tree,
  fill: (root: string, tree: Tree) => Promise<Restored>,
): Promise<Restored & { readonly at: string }> {
  const root = await cloned(remote, join(aside, 'clone'));
  for (const name of await readdir(root)) {
    if (name !== '.git') await rm(join(root, name), { recursive: true, force: true });
  }
  const files = tree.filter(({ path }) => path !== '.git' && !path.startsWith('.git/'));
  const restored = await fill(root, files);
  const { stdout } = await git(['-C', root, 'ls-remote', '--heads', 'origin', 'outlast-*']);
  const numbers = [...stdout.matchAll(/refs\/heads\/outlast-(\d+)/g)].map(([, n]) => Number(n));
  const branch = `outlast-${Math.max(0, ...numbers) + 1}`;
  await git(['-C', root, 'checkout', '--quiet', '-b', branch]);
  await git(['-C', root, 'add', '--all', '--force']);
  const author = ['-c', 'user.name=outlast', '-c', 'user.email=outlast@localhost'];
  await git(['-C', root, ...author, 'commit', '--quiet', '--allow-empty', '-m', 'Files of a session']);
  await git(['-C', root, 'push', '--quiet', 'origin', branch]);
  return { ...restored, at: `${remote} ${branch}` };
}

async function git(args: readonly string[]): Promise<{ stdout: string }> {
  const env = {
    ...process.env,
    ...{ GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: 'http:https:ssh:git:file' },
  };
  // Hooks and filters of what was cloned are not run.
  const calm = ['-c', 'core.hooksPath=/dev/null'];
  try {
    return await run('git', [...calm, ...args], { env, timeout: LIMIT_MS, maxBuffer: 16 * 1024 * 1024 });
  } catch (cause) {
    const said = String((cause as { stderr?: unknown }).stderr ?? cause).trim();
    throw new OutlastError('files.failed', `git could not do it: ${said.split('\n').at(-1)}`, { cause });
  }
}
