/**
 * A user namespace made beforehand, for a process that is to be frozen: CRIU wants a user 0 in it. That one is nobody
 * outside, too, and the process itself is the user that it is behind every wall.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readlinkSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../../lib/clock.ts';
import { NOBODY } from '../confine/cage.ts';

/** One write each, or the kernel takes only the first line. */
const MAP = `${NOBODY} 0 1\n0 ${NOBODY - 1} 1\n`;
const AGAIN_MS = 5;
const MOST_MS = 5_000;

/** `act` gets a descriptor of it. */
export async function inUserns<T>(act: (userns: number) => Promise<T>): Promise<T> {
  const holder = spawn('unshare', ['--user', 'sleep', '60'], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH ?? '' },
  });
  try {
    const pid = await unshared(holder);
    writeFileSync(`/proc/${pid}/uid_map`, MAP);
    writeFileSync(`/proc/${pid}/gid_map`, MAP);
    forbidMore(pid);
    const userns = openSync(`/proc/${pid}/ns/user`, 'r');
    try {
      return await act(userns);
    } finally {
      closeSync(userns);
    }
  } finally {
    holder.kill('SIGKILL');
  }
}

/** Nobody in the user namespace of this process makes another one, in which rights could be had again. */
export function forbidMore(pid: number): void {
  const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces';
  const args = ['--target', `${pid}`, '--user', '--setuid', '0', '--setgid', '0', 'sh', '-c', forbid];
  const { status, stderr } = spawnSync('nsenter', args, { env: { PATH: process.env.PATH ?? '' } });
  if (status !== 0) throw new Error(`user namespaces could not be forbidden: ${stderr}`);
}

async function unshared(holder: ChildProcess): Promise<number> {
  const { pid } = holder;
  const own = readlinkSync('/proc/self/ns/user');
  for (let waitedMs = 0; pid !== undefined && waitedMs < MOST_MS; waitedMs += AGAIN_MS) {
    if (holder.exitCode !== null) break;
    if (readlinkSync(`/proc/${pid}/ns/user`) !== own) return pid;
    await systemClock.sleep(AGAIN_MS);
  }
  throw new Error('no user namespace could be made');
}
