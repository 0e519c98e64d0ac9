/** Whole-system tests run what users run: the built program, as processes of its own. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a built entry point to its end. */
export async function node(
  entry: string,
  args: readonly string[],
  options: { cwd?: string; timeoutMs?: number } = {},
): Promise<Ended> {
  await run(process.execPath, ['scripts/ensure.mjs'], { cwd: ROOT });
  try {
    const { stdout, stderr } = await run(process.execPath, [`${ROOT}dist/${entry}`, ...args], {
      cwd: options.cwd ?? ROOT,
      maxBuffer: 64 * 2 ** 20,
      // Whoever gives up waiting leaves no process behind.
      timeout: options.timeoutMs ?? 60_000,
      killSignal: 'SIGKILL',
      env: { ...process.env, NO_COLOR: '1' },
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number; stdout?: string; stderr?: string };
    return { code: code ?? 1, stdout: stdout ?? '', stderr: stderr ?? '' };
  }
}

/** The JSON object on the last line. */
export function lastJson(stdout: string): Record<string, unknown> {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>;
}

export const root = ROOT;
