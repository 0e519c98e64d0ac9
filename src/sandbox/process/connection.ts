/** A worker's end of the socket of one supervisor. */

import { connect, type Socket } from 'node:net';
import { onLines, toLine } from './supervisor/lines.ts';
import type { Answered, Answers, Request } from './supervisor/protocol.ts';

/** The supervisor is there no more, or says no. Says nothing about what was asked for. */
export class Disconnected extends Error {
  override readonly name = 'Disconnected';
}

/** A newer epoch has been here. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class Connection {
  private readonly waiting = new Map<number, Waiting>();
  private readonly socket: Socket;
  private asked = 0;
  private isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    onLines(socket, (message) => this.take(message as Answered));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.closed());
    // The wait for an answer keeps a process alive, the socket alone does not.
    socket.unref();
  }

  /** Null when nobody listens there. */
  static open(path: string): Promise<Connection | null> {
    return new Promise((resolve) => {
      const socket = connect(path);
      socket.once('error', () => resolve(null));
      socket.once('connect', () => resolve(new Connection(socket)));
    });
  }

  get isOpen(): boolean {
    return !this.isClosed;
  }

  ask<Op extends Request['op']>(epoch: number, request: Extract<Request, { op: Op }>): Promise<Answers[Op]> {
    if (this.isClosed) return Promise.reject(new Disconnected('the sandbox of this session is gone'));
    const id = ++this.asked;
    this.socket.ref();
    return new Promise<unknown>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.socket.write(toLine({ ...request, id, epoch }));
    }) as Promise<Answers[Op]>;
  }

  close(): void {
    this.socket.destroy();
  }

  private take(message: Answered): void {
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (this.waiting.size === 0) this.socket.unref();
    if (message.ok) waiting?.resolve(message.answer);
    else waiting?.reject(new (message.code === 'old' ? Outdated : Error)(message.message));
  }

  private closed(): void {
    this.isClosed = true;
    for (const { reject } of this.waiting.values()) {
      reject(new Disconnected('the sandbox of this session ended before it answered'));
    }
    this.waiting.clear();
  }
}
