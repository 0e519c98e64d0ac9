/** The inner wall by bubblewrap, the outer one by `unshare`. */

import { existsSync } from 'node:fs';
import { type Cage, type Inmate, NOBODY, OUTPUTS, type Room, SCRATCH, WORKSPACE } from './cage.ts';
import { outer } from './outer.ts';
import type { Shown } from './visible.ts';

const SHM_BYTES = 64 * 2 ** 20;

/** `more`: what this build of bubblewrap can do beyond the oldest. */
export const bubblewrap = (bwrap: string, more: readonly string[]): Cage => ({
  name: 'bubblewrap',
  outer,
  inner: ({ argv, cwd, pty, userns }: Inmate, room: Room) => [
    ...[bwrap, ...(userns === undefined ? ['--unshare-user'] : ['--as-pid-1', '--userns', `${userns}`])],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...[
      ...(userns === undefined ? more : more.filter((one) => one !== '--disable-userns')),
      '--uid',
      `${NOBODY}`,
      '--gid',
      `${NOBODY}`,
      '--hostname',
      'outlast',
      '--cap-drop',
      'ALL',
    ],
    // A terminal of its own needs no other session: what could be typed into it is its own.
    ...(pty ? [] : ['--new-session']),
    ...room.shown.flatMap(mount),
    ...['--proc', '/proc', ...PROC, '--dev', '/dev', '--size', `${SHM_BYTES}`, '--tmpfs', '/dev/shm'],
    ...['--bind', room.workspace, WORKSPACE, '--bind', room.scratch, SCRATCH],
    ...['--ro-bind', room.outputs, OUTPUTS],
    ...room.files.flatMap(([inside, host]) => ['--ro-bind', host, inside]),
    ...['--remount-ro', '/', '--clearenv'],
    ...Object.entries(room.env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--json-status-fd', '3', '--sync-fd', '4', '--chdir', cwd, '--', ...argv],
  ],
});

/**
 * What of `/proc` changes or shows more of the machine than is needed. The rights to it go by the user outside, who may be
 * root, and bubblewrap itself leaves it open there.
 */
const PROC = [
  ...existing(['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'mtrr'], (path) => path),
  ...existing(['kcore', 'keys', 'kmsg', 'timer_list', 'sched_debug'], () => '/dev/null'),
];

function existing(names: readonly string[], source: (path: string) => string): readonly string[] {
  const paths = names.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
  return paths.flatMap((path) => ['--ro-bind', source(path), path]);
}

const mount = (shown: Shown): readonly string[] =>
  shown.kind === 'link' ? ['--symlink', shown.to, shown.path] : ['--ro-bind', shown.path, shown.path];
