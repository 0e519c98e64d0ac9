// Owns: running one program to its end. Called by ensure.mjs, build.mjs and test.mjs.
//
// C1. The child ends before its parent: a signal that ends us is passed on, and we wait for the child.
// C2. stdin is closed, so that nothing here can wait for a person.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { root } from './stamp.mjs';

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Resolves with the exit code (1 for a signal).
 * `stdout` says where its output goes: 1, 2 (to keep our stdout clean) or 'ignore'.
 * `isDisposable` says that its half-done work is worthless, so it is killed: npm would go on for seconds.
 */
export function run(command, args, { stdout = 1, env = {}, isDisposable = false, onPid = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', stdout, 2],
      shell: process.platform === 'win32' && command === 'npm',
    });
    const pass = (signal) => {
      child.once('close', () => process.exit(128 + constants.signals[signal]));
      child.kill(isDisposable ? 'SIGKILL' : signal);
    };
    for (const signal of endings) process.once(signal, pass);
    if (child.pid !== undefined) onPid(child.pid);
    child.once('error', reject);
    child.once('close', (code) => {
      for (const signal of endings) process.off(signal, pass);
      resolve(code ?? 1);
    });
  });
}

/** Runs a program that npm installed, by its file: no shell, no npx, the same on every platform. */
export function runInstalled(file, args, options) {
  return run(process.execPath, [`node_modules/${file}`, ...args], options);
}
