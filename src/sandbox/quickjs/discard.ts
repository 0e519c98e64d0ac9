/**
 * Gives large pieces of memory back at once, where the collector would do it when many have come together. The next piece
 * then gets the same memory: to touch new pages takes a heap that wakes as long as to copy them, and the collector runs
 * in the middle of it.
 *
 * Node 20 has no call for that. What is handed over to a port that nobody reads is freed there.
 */

import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** Smaller ones may share their buffer with others. */
const LARGE = 65_536;

let nowhere: MessagePort | null = null;

/** Frees the buffer of these bytes, which nobody may use after. */
export function discard({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < LARGE || !(buffer instanceof ArrayBuffer)) return;
  nowhere ??= closedPort();
  nowhere.postMessage(null, [buffer]);
}

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.unref();
  port2.close();
  return port1;
}
