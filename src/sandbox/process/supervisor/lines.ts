/** Messages over a socket: one line of JSON each. */

import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** Nobody has that much to say in one line; whoever does is no friend. */
const MOST = 64 * 2 ** 20;

export function onLines(socket: Socket, take: (message: unknown) => void): void {
  const decoder = new StringDecoder('utf8');
  let text = '';
  socket.on('data', (data) => {
    text += decoder.write(data as Buffer);
    if (text.length > MOST) socket.destroy();
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      try {
        take(JSON.parse(line));
      } catch {
        socket.destroy();
      }
    }
  });
}

export const toLine = (message: unknown): string => `${JSON.stringify(message)}\n`;
