/** The QuickJS sandbox in the calling thread: the same engine and the same protocol, without a worker to wait for. */

import type { Sandbox } from '../sandbox/port.ts';
import { quickjsSandbox } from '../sandbox/quickjs/sandbox.ts';
import { memoryShelf } from '../sandbox/quickjs/shelf.ts';

export async function inlineSandbox(): Promise<Sandbox> {
  return quickjsSandbox({ mode: 'inline', shelf: memoryShelf() });
}
