// Owns: one writer at a time for node_modules and dist, across processes. Called by ensure.mjs.
//
// The lock is a folder that holds one file: its name begins with the owner's pid, its content is the child's, if any.
// L1. Taking is one rename of a filled folder, so a lock without an owner is never in anyone's way.
// L2. Taking over is one rename of the owner's file: of many who see a dead owner, exactly one succeeds.
// L3. An owner is dead when neither it nor its child (npm, tsc) lives, or when its heartbeat stopped for long
//     (the pid may have gone to another process since).

import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const heartbeatMs = 5_000;
const staleMs = 120_000;

/** Run `work` while holding `folder`. `work` gets `note(pid)`, which adds a child to those that keep the lock alive. */
export async function withLock(folder, work, say) {
  const me = `${process.pid}-${Date.now().toString(36)}`;
  const file = join(folder, me);
  await acquire(folder, me, say);
  const heartbeat = setInterval(() => touch(file), heartbeatMs);
  try {
    return await work((pid) => writeFileSync(file, `${pid}`));
  } finally {
    clearInterval(heartbeat);
    release(folder, file);
  }
}

async function acquire(folder, me, say) {
  for (let tries = 0; !(take(folder, me) || takeOver(folder, me)); tries++) {
    if (tries === 20) say(`waiting for another install or build (${folder})`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function take(folder, me) {
  const mine = `${folder}-${me}`;
  mkdirSync(mine);
  writeFileSync(join(mine, me), '');
  if (attempt(() => renameSync(mine, folder))) return true;
  rmSync(mine, { recursive: true });
  return false;
}

function takeOver(folder, me) {
  return attempt(() => {
    const [owner] = readdirSync(folder);
    if (!isDead(folder, owner)) throw new Error('held');
    touch(join(folder, owner)); // First: a rename keeps the old time, and our file must not look stale to the next.
    renameSync(join(folder, owner), join(folder, me));
  });
}

function isDead(folder, owner) {
  const file = join(folder, owner);
  const pids = [Number.parseInt(owner, 10), Number(readFileSync(file, 'utf8'))];
  return !pids.some(isAlive) || Date.now() - statSync(file).mtimeMs > staleMs;
}

function isAlive(pid) {
  if (pid === 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function release(folder, file) {
  // The folder may be another's by the time it is empty (L1), so its removal may fail.
  attempt(() => rmSync(file));
  attempt(() => rmdirSync(folder));
}

function touch(file) {
  attempt(() => utimesSync(file, new Date(), new Date()));
}

function attempt(action) {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
