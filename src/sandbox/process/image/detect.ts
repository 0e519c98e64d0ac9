/**
 * Whether whole processes can be kept when a kernel is parked: CRIU 4.1 or newer that says itself that it works on this
 * machine, as root, behind bubblewrap. Anything else is named with its reason, and kernels are parked by value.
 */

import { execFile } from 'node:child_process';
import type { ConfinementName } from '../port.ts';

export interface Criu {
  readonly program: string;
  readonly version: string;
}

export interface Keeper {
  /** Null where kernels are parked by value. */
  readonly criu: Criu | null;
  /** Of what is here and is not used, in words; null where nothing is. */
  readonly why: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;

const LEAST = [4, 1] as const;
const PROBE_MS = 10_000;

/** `OUTLAST_CRIU` names a program; otherwise the one of the `PATH`. */
export async function findKeeper(
  env: Env = process.env,
  isRoot: boolean = process.getuid?.() === 0,
): Promise<Keeper> {
  const program = env.OUTLAST_CRIU ?? 'criu';
  const said = await ask(program, ['--version'], env);
  const version = /^Version:\s*(\d+(?:\.\d+)*)/m.exec(said.output)?.[1];
  if (version === undefined) return { criu: null, why: await gvisor(env) };
  const not = (why: string): Keeper => ({ criu: null, why: `criu ${version} is here, and ${why}` });
  if (!isEnough(version)) return not(`${LEAST.join('.')} or newer is needed`);
  if (!isRoot) return not('it needs root');
  const check = await ask(program, ['check'], env);
  if (!check.ok) return not(`does not work on this machine: ${lastLine(check.output)}`);
  return { criu: { program, version }, why: null };
}

/** For people: what is kept of a kernel that is parked, and by what. */
export function parkingOf({ criu, why }: Keeper, confinement: ConfinementName): string {
  if (criu && confinement === 'bubblewrap')
    return `Python is parked as a whole process, by criu ${criu.version}`;
  const reason = criu ? `criu ${criu.version} is here, and is used behind bubblewrap only` : why;
  return `Python is parked by value${reason === null ? '' : ` (${reason})`}`;
}

/** Named, so that nobody wonders: no kernel runs in it. */
async function gvisor(env: Env): Promise<string | null> {
  const version = /^runsc version (\S+)/m.exec((await ask('runsc', ['--version'], env)).output)?.[1];
  return version === undefined ? null : `gVisor ${version} is here, and is not used`;
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
}

const lastLine = (text: string): string =>
  (text.trim().split('\n').at(-1) ?? '').slice(0, 200) || 'it does not say why';

function ask(
  program: string,
  args: readonly string[],
  { PATH }: Env,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  return new Promise((resolve) => {
    const env = PATH === undefined ? {} : { PATH };
    execFile(program, args, { timeout: PROBE_MS, env }, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: `${stdout}\n${stderr}` }),
    );
  });
}
