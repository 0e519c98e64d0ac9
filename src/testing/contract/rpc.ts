/** Calls in both directions over one channel between two processes: who asks gets the answer or the error, by name. */

import { NotOffered, Refused } from './port.ts';

interface Channel {
  send(message: object): void;
  onMessage(listener: (message: Message) => void): void;
}

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly name: string; readonly message: string };

type Methods = { readonly [method: string]: (...args: never[]) => Promise<unknown> };
type Call = (method: string, ...args: readonly unknown[]) => Promise<unknown>;

export function rpc(channel: Channel, methods: () => Methods): Call {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;

  channel.onMessage((message) => {
    if (message.kind === 'call') return void answer(message);
    const one = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === 'answer') one?.resolve(message.value);
    else one?.reject(errorOf(message));
  });

  async function answer({ id, method, args }: Extract<Message, { kind: 'call' }>): Promise<void> {
    try {
      const value = await methods()[method]?.(...(args as never[]));
      channel.send({ kind: 'answer', id, value: value ?? null });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      channel.send({ kind: 'error', id, name, message });
    }
  }

  return (method, ...args) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      channel.send({ kind: 'call', id, method, args });
    });
}

function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  if (name === 'NotOffered') return new NotOffered(message);
  if (name === 'Refused') return new Refused(message);
  return Object.assign(new Error(message), { name });
}
