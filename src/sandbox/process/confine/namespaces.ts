/**
 * The inner wall by `unshare` and `mount` of util-linux, for machines without bubblewrap.
 *
 * M1  The root is an empty tmpfs into which only what is shown is bound; the old one is gone before the command starts.
 * M2  The command runs in a user namespace below the one that made the mounts, so it can undo none of them.
 * M3  What of `/proc` changes the machine is read-only: the rights to it go by the user outside, who may be root.
 * M4  The first process of its process id namespace is the script: it says how the command ended and stays until all
 *     that it started is gone.
 */

import { type Cage, type Inmate, NOBODY, OUTPUTS, type Room, SCRATCH, WORKSPACE } from './cage.ts';
import { outer } from './outer.ts';
import type { Shown } from './visible.ts';

export const namespaces: Cage = {
  name: 'namespaces',
  outer,
  inner: ({ argv, cwd }: Inmate, room: Room) => [
    ...['unshare', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child=SIGKILL'],
    ...['--', 'sh', '-c', script(room, cwd), 'outlast', ...argv],
  ],
};

function script(room: Room, cwd: string): string {
  return `
set -e
exec 9<&0
hostname outlast 2>/dev/null || true
R=${quoted(room.root)}
mount -t tmpfs -o mode=755,size=16m,nosuid,nodev tmpfs "$R"
see() { if [ -d "$1" ]; then mkdir -p "$R$2"; else mkdir -p "$R\${2%/*}"; : > "$R$2"; fi; mount --rbind "$1" "$R$2"; }
read_only() { mount -o remount,bind,ro,nosuid "$R$1"; }
${room.shown.map(mount).join('\n')}
mkdir "$R/proc" "$R/dev" "$R/old"
mount -t proc -o nosuid,nodev,noexec proc "$R/proc"
for name in sys sysrq-trigger irq bus fs acpi scsi mtrr; do
  [ ! -e "$R/proc/$name" ] || { mount --bind "$R/proc/$name" "$R/proc/$name"; read_only "/proc/$name"; }
done
for name in kcore keys kmsg timer_list sched_debug; do
  [ ! -e "$R/proc/$name" ] || mount --bind /dev/null "$R/proc/$name"
done
mount -t tmpfs -o mode=755,size=64m,nosuid tmpfs "$R/dev"
for name in null zero full random urandom tty; do : > "$R/dev/$name"; mount --bind "/dev/$name" "$R/dev/$name"; done
mkdir -m 1777 "$R/dev/shm"; mkdir "$R/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$R/dev/pts"
ln -s pts/ptmx "$R/dev/ptmx"; ln -s /proc/self/fd "$R/dev/fd"
for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/\${n%:*}" "$R/dev/\${n#*:}"; done
see ${quoted(room.workspace)} ${WORKSPACE}
see ${quoted(room.scratch)} ${SCRATCH}
see ${quoted(room.outputs)} ${OUTPUTS}; read_only ${OUTPUTS}
${room.files.map(([inside, host]) => `see ${quoted(host)} ${quoted(inside)}; read_only ${quoted(inside)}`).join('\n')}
cd "$R"
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,ro /
set +e
cd ${quoted(cwd)} 2>/dev/null || { echo "there is no folder" ${quoted(cwd)} >&2; echo '{"exit-code":1}' >&3; exit 1; }
unshare --user --map-user=${NOBODY} --map-group=${NOBODY} \\
  setpriv --no-new-privs --bounding-set=-all --inh-caps=-all \\
  env -i ${Object.entries(room.env)
    .map(([name, value]) => quoted(`${name}=${value}`))
    .join(' ')} "$@" <&9 3>&- 4>&- 9<&- &
wait $!
echo "{\\"exit-code\\":$?}" >&3
exec 3>&- 5>&- 9<&- >/dev/null 2>&1
while set -- /proc/[0-9]*; [ $# -gt 1 ]; do sleep 0.2 4>&-; done
`;
}

function mount(shown: Shown): string {
  if (shown.kind === 'link') {
    const folder = quoted(shown.path.slice(0, shown.path.lastIndexOf('/')));
    return `mkdir -p "$R"${folder}; ln -s ${quoted(shown.to)} "$R"${quoted(shown.path)}`;
  }
  return `see ${quoted(shown.path)} ${quoted(shown.path)}; read_only ${quoted(shown.path)}`;
}

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
