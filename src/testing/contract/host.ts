/**
 * The process that is killed: one life of a runtime under test. It loads the module that is named to it, waits to be
 * told which folder to open, and does what it is asked; the outside is in the process that asks. It ends with that process.
 */

import type { Outside, Runtime, Subject } from './port.ts';
import { rpc } from './rpc.ts';

const [, , module = ''] = process.argv;
process.on('disconnect', () => process.exit(0));

let runtime: Runtime | null = null;

const channel = {
  send: (message: object) => void process.send?.(message, undefined, undefined, () => {}),
  onMessage: (listener: (message: never) => void) => void process.on('message', listener as never),
};

const outside: Outside = {
  think: (conversation) => ask('think', conversation) as ReturnType<Outside['think']>,
  call: (service, what, key) => ask('call', service, what, key) as ReturnType<Outside['call']>,
  find: (service, key) => ask('find', service, key) as ReturnType<Outside['find']>,
};

const ready = (import(module) as Promise<{ readonly subject: Subject }>).then(({ subject }) => subject);

const ask = rpc(channel, () => ({
  async open(folder: string) {
    runtime = await (await ready).open(folder, outside, { pass: async () => {} });
  },
  ...(runtime as unknown as Record<string, (...args: never[]) => Promise<unknown>>),
}));
