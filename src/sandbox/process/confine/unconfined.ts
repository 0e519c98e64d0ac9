/**
 * No wall at all, for people who said so: commands see the machine as the server does, but for its environment. What they
 * start is found again by a mark in the environment of each process, and by what keeps descriptor 4 open.
 */

import type { Cage, Inmate, Room } from './cage.ts';

export const unconfined: Cage = {
  name: 'none',
  outer: (argv) => argv,
  inner: ({ argv, cwd }: Inmate, room: Room) => [
    ...['env', '-i', ...Object.entries(room.env).map(([name, value]) => `${name}=${value}`)],
    ...['sh', '-c', SCRIPT, 'outlast', cwd, ...argv],
  ],
};

/** In the background it would have lost its stdin. */
const SCRIPT = `
cd "$1" || { echo '{"exit-code":1}' >&3; exit 1; }
shift
exec 9<&0
"$@" <&9 3>&- 9<&- &
wait $!
echo "{\\"exit-code\\":$?}" >&3
`;
