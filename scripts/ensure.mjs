// Owns: "what is missing gets installed, what is stale gets built". Called by the npm scripts and by bin/outlast.mjs.
// Usage: node scripts/ensure.mjs [--no-build]
//
// E1. Says nothing when there is nothing to do, and never writes to stdout: that belongs to the program that follows.
// E2. Plain Node and no package: it runs before there are any.
// E3. Judged by the stamps (stamp.mjs), before and again under the lock: of two that start together, one works.

import { realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildHash, buildStamp, dist, installHash, installStamp, root, stamp, stamped } from './stamp.mjs';

/** Resolves with whether all is up to date; if not, stderr says what to do. */
export async function ensure({ build = true } = {}) {
  if (isInstalled() && (!build || isBuilt())) return true;
  const { withLock } = await import('./lock.mjs');
  const work = async (note) =>
    (isInstalled() || (await install(note))) && (!build || isBuilt() || (await rebuild(note)));
  return withLock(join(root, '.ensure.lock'), work, say);
}

const isInstalled = () => stamped(installStamp) === installHash();
const isBuilt = () => stamped(buildStamp(dist)) === buildHash();

async function install(note) {
  const { run } = await import('./child.mjs');
  return timed(
    'installing packages',
    'Look at the lines above, check the network, and run it again.',
    async () => {
      const hash = installHash();
      // Flags beat what a surrounding `npm -s` or NODE_ENV=production leaves in the environment.
      const args = ['ci', '--include=dev', '--loglevel=error', '--no-audit', '--no-fund'];
      const code = await run('npm', args, { stdout: 'ignore', isDisposable: true, onPid: note });
      if (code !== 0) return false;
      linkOwnBin();
      stamp(installStamp, hash);
      return true;
    },
  );
}

async function rebuild(note) {
  const { build } = await import('./build.mjs');
  return timed('building', 'Mend what the lines above name, and run it again.', () =>
    build(buildHash(), note),
  );
}

/** npm links the bins of dependencies only; with ours beside them `npx outlast` finds it on every npm. */
function linkOwnBin() {
  if (process.platform === 'win32') return;
  const link = join(root, 'node_modules/.bin/outlast');
  rmSync(link, { force: true });
  symlinkSync('../../bin/outlast.mjs', link);
}

async function timed(what, next, work) {
  say(`${what} …`);
  const startedAt = Date.now();
  const isDone = await work();
  say(
    isDone ? `${what}: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s` : `${what} failed. ${next}`,
  );
  return isDone;
}

function say(line) {
  process.stderr.write(`outlast: ${line}\n`);
}

const isProgram = process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) {
  process.exitCode = (await ensure({ build: !process.argv.includes('--no-build') })) ? 0 : 1;
}
