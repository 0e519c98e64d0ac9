/**
 * Bounds that the kernel holds: by a cgroup of the session (version 2 or 1) where we may make one, and by the limits that
 * each process hands down. What neither holds is watched (`watch.ts`).
 */

import { accessSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessLimits } from './port.ts';

export interface Held {
  /** The command line that runs `argv` under the bounds. */
  wrap(argv: readonly string[]): readonly string[];
  /** Whether the kernel bounds the memory and the number of processes of the whole tree. */
  readonly isWhole: boolean;
  /** How often the kernel ended a process of the tree for its memory. */
  outOfMemory(): number;
  /** Once all processes are gone. */
  remove(): void;
}

/** `name` is unique on this machine. */
export function held(limits: ProcessLimits, name: string, root = ''): Held {
  const groups = cgroupOf(limits, name, root);
  const bounds = hasProgram('prlimit')
    ? ['prlimit', `--fsize=${limits.fileMb * 2 ** 20}`, '--core=0', '--nofile=4096', '--']
    : [];
  return {
    wrap: (argv) => [...join0(groups?.procs ?? []), ...bounds, ...argv],
    isWhole: groups !== null,
    outOfMemory: () => groups?.outOfMemory() ?? 0,
    remove() {
      for (const folder of groups?.folders ?? []) {
        try {
          rmdirSync(folder);
        } catch {
          // Somebody is still in there; it costs a name and nothing else.
        }
      }
    },
  };
}

interface Group {
  readonly folders: readonly string[];
  readonly procs: readonly string[];
  outOfMemory(): number;
}

/** Enters the groups and becomes the command. `0` is whoever writes it. */
function join0(procs: readonly string[]): readonly string[] {
  if (procs.length === 0) return [];
  const entering = procs.map((path) => `echo 0 > '${path}' || exit 125`).join('\n');
  return ['sh', '-c', `${entering}\nexec "$@"`, 'outlast'];
}

function cgroupOf(limits: ProcessLimits, name: string, root: string): Group | null {
  const places = placesOf(root);
  return (places && (versionTwo(limits, name, places) ?? versionOne(limits, name, places))) ?? null;
}

interface Places {
  /** Folder of this process by controller; `''` is version 2. */
  readonly own: ReadonlyMap<string, string>;
}

/** From `/proc`: where the hierarchies are mounted, and where in them we are. */
function placesOf(root: string): Places | null {
  try {
    const mounts = readFileSync(`${root}/proc/self/mounts`, 'utf8').split('\n');
    const groups = readFileSync(`${root}/proc/self/cgroup`, 'utf8').trim().split('\n');
    const own = new Map<string, string>();
    for (const line of groups) {
      const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      const mount = mounts.find((one) => {
        const [, , type, options = ''] = one.split(' ');
        if (controllers === '') return type === 'cgroup2';
        return type === 'cgroup' && options.split(',').includes(controllers.split(',')[0] ?? '');
      });
      const at = mount?.split(' ')[1];
      if (at) for (const each of controllers.split(',')) own.set(each, join(root + at, path));
    }
    return { own };
  } catch {
    return null;
  }
}

/** Beside us, where the controllers are switched on for us, or below us, where that was left to us. */
function versionTwo(limits: ProcessLimits, name: string, { own }: Places): Group | null {
  const here = own.get('');
  if (!here) return null;
  for (const parent of [here, join(here, '..')]) {
    const folder = join(parent, name);
    const made = make([folder], () => {
      if (!existsSync(join(folder, 'memory.max'))) throw new Error('the controllers are not ours');
      writeFileSync(join(folder, 'memory.max'), `${limits.memoryMb * 2 ** 20}`);
      writeFileSync(join(folder, 'pids.max'), `${limits.processes}`);
      attempt(() => writeFileSync(join(folder, 'memory.swap.max'), '0'));
    });
    if (made)
      return {
        folders: [folder],
        procs: [join(folder, 'cgroup.procs')],
        outOfMemory: () => counter(join(folder, 'memory.events'), /^oom_kill (\d+)$/m),
      };
  }
  return null;
}

function versionOne(limits: ProcessLimits, name: string, { own }: Places): Group | null {
  const [memory, pids] = [own.get('memory'), own.get('pids')];
  if (!memory || !pids) return null;
  const folders = [join(memory, name), join(pids, name)] as const;
  const bytes = `${limits.memoryMb * 2 ** 20}`;
  const made = make(folders, () => {
    writeFileSync(join(folders[0], 'memory.limit_in_bytes'), bytes);
    attempt(() => writeFileSync(join(folders[0], 'memory.memsw.limit_in_bytes'), bytes));
    writeFileSync(join(folders[1], 'pids.max'), `${limits.processes}`);
  });
  return made
    ? {
        folders,
        procs: folders.map((folder) => join(folder, 'cgroup.procs')),
        outOfMemory: () => counter(join(folders[0], 'memory.oom_control'), /^oom_kill (\d+)$/m),
      }
    : null;
}

function make(folders: readonly string[], set: () => void): boolean {
  try {
    for (const folder of folders) mkdirSync(folder, { recursive: false });
    set();
    for (const folder of folders) accessSync(join(folder, 'cgroup.procs'), 2);
    return true;
  } catch {
    for (const folder of folders) attempt(() => rmdirSync(folder));
    return false;
  }
}

function counter(path: string, pattern: RegExp): number {
  try {
    return Number(pattern.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // Not every kernel has it.
  }
}

export function hasProgram(name: string): boolean {
  const path = process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin';
  return path.split(':').some((folder) => existsSync(join(folder, name)));
}
