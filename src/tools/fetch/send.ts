/**
 * One HTTP request over one connection of its own.
 *
 * C1  Not a byte of the request is handed over before the connection stands (with TLS: before the peer is proven).
 *     What fails until then is `NotSent`; what fails after is anything else, and means that nobody knows.
 * C2  No pool: a kept connection can die with the request on it, and look like one that was never there.
 * C3  No proxy, no redirect, no second try: one call, one request, one place.
 */

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { NotSent } from '../port.ts';
import type { Headers } from './headers.ts';

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | null;
}

export interface Incoming {
  readonly status: number;
  readonly headers: Headers;
  /** Throws when the answer breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Lets the connection go, read to its end or not. */
  close(): void;
}

/** The port to the network; tests and the simulator put another world here. */
export type Send = (request: Outgoing, signal: AbortSignal) => Promise<Incoming>;

export const send: Send = async (outgoing, signal) => {
  const url = new URL(outgoing.url);
  const socket = await connected(url, signal);
  const response = await exchanged(socket, url, outgoing, signal);
  const close = (): void => void socket.destroy();
  return { status: response.statusCode ?? 0, headers: joined(response), body: response, close };
};

function connected(url: URL, signal: AbortSignal): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  const servername = isIP(host) === 0 ? host : undefined;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new NotSent('there was no time left to connect'));
    const socket = isTls
      ? connectTls({ host, port, ALPNProtocols: ['http/1.1'], ...(servername && { servername }) })
      : connect({ host, port });
    const settle = (then: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners('error').on('error', () => {}); // from here on the request reports it
      then();
    };
    const fail = (why: string): void =>
      settle(() => {
        socket.destroy();
        reject(new NotSent(why));
      });
    const onAbort = (): void => fail('the service could not be reached in time');
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', (error) => fail(`the service could not be reached${codeOf(error)}`));
    socket.once(isTls ? 'secureConnect' : 'connect', () => settle(() => resolve(socket)));
  });
}

function exchanged(
  socket: Socket,
  url: URL,
  { method, headers, body }: Outgoing,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // As bytes: Node writes the headers in the encoding of a body that is text, and theirs is Latin-1.
    const bytes = body === null ? null : Buffer.from(body);
    const lengths = bytes === null ? {} : { 'content-length': bytes.length };
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, ...lengths, host: url.host, connection: 'close' },
      signal,
    });
    request.once('response', resolve);
    request.on('error', reject);
    request.once('close', () => reject(new Error('the connection was closed without an answer')));
    request.end(bytes ?? undefined);
  });
}

function joined({ headersDistinct }: IncomingMessage): Headers {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, all = []]) => [name, all.join(', ')]),
  );
}

/** ` (ECONNREFUSED)`: the one part of a network error that can hold nothing of the request. */
export function codeOf(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? ` (${code})` : '';
}
