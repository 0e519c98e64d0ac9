/**
 * A provider's end of the wire, for tests: a server on loopback that answers with the bytes it was given and keeps the
 * bytes it got. It knows no provider, `formats.ts` does.
 *
 * W1  Answers are given in the order in which they were queued; a request without one gets a plain 500.
 * W2  What was received is kept as text, so that a test can compare bytes.
 * W3  `close` leaves nothing open, also not an answer that hangs.
 */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WireAnswer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Written one by one; an event stream unless the headers say otherwise. */
  readonly chunks: readonly string[];
  /** `close` ends the answer properly, `cut` drops the connection, `hang` leaves it open. */
  readonly end?: 'close' | 'cut' | 'hang';
}

export interface WireRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface WireServer {
  readonly url: string;
  readonly requests: readonly WireRequest[];
  answer(...answers: readonly WireAnswer[]): void;
  close(): Promise<void>;
}

export async function startWireServer(): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const queue: WireAnswer[] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    requests.push({ path: request.url ?? '', headers: request.headers, text });
    await write(response, queue.shift() ?? { status: 500, chunks: ['no answer was queued'] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (...answers) => void queue.push(...answers),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function write(response: ServerResponse, answer: WireAnswer): Promise<void> {
  const { status = 200, headers, chunks, end = 'close' } = answer;
  response.writeHead(status, headers ?? { 'content-type': 'text/event-stream' });
  // Each chunk is on its way before the next: a dropped connection would take with it what still waits here.
  for (const chunk of chunks) await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
  if (end === 'close') response.end();
  if (end === 'cut') response.destroy();
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
