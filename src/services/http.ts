/**
 * JSON over HTTP on loopback, for the sample services. Owns sockets, bodies and status lines; knows no route.
 *
 * H1. Each answer is JSON; each refusal is `{ error: { code, message } }`.
 * H2. `closed` aborts when the client goes away before its answer. An answer of `undefined` drops the connection.
 * H3. `close` lets running answers finish, within a bound, and takes no new request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import { systemClock } from '../lib/clock.ts';

const BODY_LIMIT_BYTES = 1_000_000;
const CLOSE_BOUND_MS = 2_000;

/** One request as a route sees it. `body` is the parsed JSON, or undefined when none was sent. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  header(name: string): string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Answer = (call: Call, closed: AbortSignal) => Promise<Reply | undefined>;

export function ok(body: unknown, status = 200): Reply {
  return { status, body };
}

export function refuse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  return { status, body: { error: { code, message } }, headers };
}

/** The field of a JSON body, if it is a non-empty string. */
export function textField(body: unknown, name: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const value = (body as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

export async function listen(answer: Answer, port: number): Promise<Listening> {
  let closing = false;
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const done = handle(answer, request, response, () => closing).finally(() => running.delete(done));
    running.add(done);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };

  async function close(): Promise<void> {
    closing = true;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    const answered = new AbortController();
    void Promise.all(running).then(() => answered.abort());
    await systemClock.sleep(CLOSE_BOUND_MS, answered.signal);
    server.closeAllConnections(); // connections that never asked anything count as busy and would be waited for
    await closed;
  }
}

async function handle(
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
  closing: () => boolean,
): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  try {
    const body = await readBody(request);
    const reply = 'refused' in body ? body.refused : await answer(toCall(request, body.json), closed.signal);
    if (reply === undefined) response.destroy();
    else send(response, reply, closing());
  } catch (error) {
    if (closed.signal.aborted) return;
    console.error(error);
    send(response, refuse(500, 'internal', 'The service failed; nothing was booked for this request'), true);
  }
  await finished(response).catch(() => {}); // a client that went away needs no answer
}

function send(response: ServerResponse, reply: Reply, last: boolean): void {
  const text = `${JSON.stringify(reply.body)}\n`;
  response.writeHead(reply.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(last ? { connection: 'close' } : {}),
    ...reply.headers,
  });
  response.end(text);
}

function toCall(request: IncomingMessage, body: unknown): Call {
  const url = new URL(request.url ?? '/', 'http://loopback');
  const header = (name: string) => {
    const value = request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  };
  return { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, body, header };
}

async function readBody(request: IncomingMessage): Promise<{ json: unknown } | { refused: Reply }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk); // the rest is read and dropped: leaving early would cut the line
  }
  if (bytes > BODY_LIMIT_BYTES) {
    return { refused: refuse(413, 'body.too_large', `A body may have ${BODY_LIMIT_BYTES} bytes at most`) };
  }
  if (bytes === 0) return { json: undefined };
  try {
    return { json: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { refused: refuse(400, 'body.not_json', 'The body is not JSON') };
  }
}
