/** Where a kernel comes back to after it was frozen, or could not be: a socket that it looks for, and connects to twice. */

import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';

export interface Back {
  readonly control: Socket;
  readonly output: Socket;
}

/** On the host; inside it is `DOOR`. */
export function doorIn(dir: string): string {
  const door = join(dir, 'door');
  mkdirSync(door, { recursive: true, mode: 0o755 });
  return door;
}

export const DOOR = '/run/outlast/door';

/** Null when nobody comes in that time. */
export async function backThrough(dir: string, withinMs: number): Promise<Back | null> {
  const door = doorIn(dir);
  rmSync(join(door, 'socket'), { force: true });
  // By its descriptor: the path itself may be longer than the kernel takes for a socket.
  const folder = openSync(door, 'r');
  const server = createServer();
  const bound = new AbortController();
  try {
    const came = new Promise<Back>((resolve, reject) => {
      const sockets: Socket[] = [];
      server.on('error', reject);
      server.on('connection', (socket) => {
        socket.on('error', () => socket.destroy());
        sockets.push(socket);
        const [control, output] = sockets;
        if (control && output) resolve({ control, output });
      });
      server.listen(`/proc/self/fd/${folder}/socket`);
    });
    return await Promise.race([came, systemClock.sleep(withinMs, bound.signal).then(() => null)]);
  } finally {
    bound.abort();
    server.close();
    closeSync(folder);
    rmSync(join(door, 'socket'), { force: true });
  }
}
