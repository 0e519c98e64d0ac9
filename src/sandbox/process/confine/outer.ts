/**
 * The outer wall: namespaces of the session around its supervisor.
 *
 * O1  The first process in there is a shell that does nothing but wait: it collects what nobody waits for, and when the
 *     supervisor ends, however that came, it ends, and the kernel kills all that is left.
 * O2  `unshare` itself ends after the last of them, so whoever waits for it knows that all are gone. Killed, it takes them
 *     with it.
 */

export const outer = (argv: readonly string[]): readonly string[] => [
  'unshare',
  // Without being root, a user namespace gives the right to make the others.
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  ...['--pid', '--net', '--ipc', '--mount-proc', '--fork', '--kill-child=SIGKILL', '--'],
  ...['sh', '-c', FIRST, 'outlast', ...argv],
];

/** The network of the session has a loopback, and somebody has to switch it on. */
const FIRST = `
{ ip link set lo up || ifconfig lo up; } >/dev/null 2>&1
"$@" &
wait $!
`;
