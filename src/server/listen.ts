/**
 * A handler of requests on a port of this machine.
 *
 * N1  Without tokens nothing but loopback is listened on.
 * N2  `close` returns once no connection is left: new ones are refused at once, running calls get a while to answer.
 */

import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { OutlastError } from '../core/error.ts';
import { systemClock } from '../lib/clock.ts';
import { health } from '../protocol/schema.ts';
import { isLoopback } from './guard.ts';

export interface ListenOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** 0 lets the machine choose. */
  readonly port: number;
  readonly host?: string;
  /** Whether requests must carry a token. */
  readonly hasTokens?: boolean;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  close(graceMs?: number): Promise<void>;
}

const GRACE_MS = 3_000;
const LOOK_AGAIN_MS = 20;
const NEIGHBOUR_MS = 1_500;

export async function listen({
  fetch,
  port,
  host = '127.0.0.1',
  hasTokens = false,
}: ListenOptions): Promise<Listening> {
  if (!hasTokens && !isLoopback(host)) {
    throw new OutlastError(
      'owner.unauthorized',
      `Listening on ${host} without tokens would give everyone who reaches it your sessions.`,
      { next: 'set OUTLAST_TOKENS=owner:token,… or listen on 127.0.0.1' },
    );
  }
  const server = createAdaptorServer({ fetch }) as Server;
  await bind(server, port, host);
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return {
    url: `http://${urlHost(host)}:${bound}`,
    port: bound,
    close: (graceMs = GRACE_MS) => close(server, graceMs),
  };
}

async function bind(server: Server, port: number, host: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw await refusal(error as NodeJS.ErrnoException, port, host);
  }
}

async function refusal(error: NodeJS.ErrnoException, port: number, host: string): Promise<OutlastError> {
  const next = 'choose another with --port N or OUTLAST_PORT=N; 0 takes any free one';
  if (error.code === 'EADDRINUSE') {
    const who = await whoListens(`http://${urlHost(host)}:${port}`);
    return new OutlastError('port.taken', `Port ${port} is taken by ${who}.`, { next, cause: error });
  }
  return new OutlastError('port.taken', `Port ${port} of ${host} cannot be used: ${error.message}.`, {
    next,
    cause: error,
  });
}

/** In words, so that a person knows what to end or where to look. */
async function whoListens(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(NEIGHBOUR_MS) });
    const found = health.safeParse(await response.json());
    if (!found.success) return 'another program that speaks HTTP';
    const { pid, data } = found.data;
    return pid === null
      ? 'another Outlast, which wants a token before it says more'
      : `another Outlast: process ${pid}, data in ${data ?? 'memory'}`;
  } catch {
    return 'another program';
  }
}

/** N2. A connection becomes idle when its last stream ends; keep-alive must not hold the server up. */
async function close(server: Server, graceMs: number): Promise<void> {
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    server.close(() => {
      isOver = true;
      resolve();
    });
  });
  const until = systemClock.monotonic() + graceMs;
  while (!isOver && systemClock.monotonic() < until) {
    server.closeIdleConnections();
    await systemClock.sleep(LOOK_AGAIN_MS);
  }
  server.closeAllConnections();
  await over;
}

/** The host as a URL has it; all interfaces are reached by loopback. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
