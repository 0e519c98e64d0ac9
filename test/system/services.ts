/**
 * A real service on the loopback for sessions in virtual time: time stands still while a request is under way. Bookings
 * can be listed by their reference and cancelled; each thing that happens stands in `seen`.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fetchTool } from '../../src/tools/fetch/fetch.ts';
import type { Rule } from '../../src/tools/fetch/grant.ts';
import { httpTool } from '../../src/tools/fetch/http.ts';
import { type Send, send as sendForReal } from '../../src/tools/fetch/send.ts';
import type { Tool } from '../../src/tools/port.ts';

export interface Booking {
  readonly id: string;
  readonly ref: string;
  cancelled: boolean;
}

export interface Service {
  readonly origin: string;
  readonly tools: readonly Tool[];
  readonly bookings: Booking[];
  readonly seen: {
    readonly method: string;
    readonly url: string;
    readonly body: string;
    readonly type: string;
  }[];
  /** The next so many POSTs are done, and their connection is torn before the answer. */
  tear: number;
  /** How often the list is refused. */
  refuseLists: number;
  isUnderWay(): boolean;
  close(): void;
}

export const LATE_MS = 30_000;

const RULES: readonly Rule[] = [
  { method: 'GET', path: '/**' },
  { method: 'POST', path: '/notes' },
  {
    method: 'POST',
    path: '/bookings',
    capability: { kind: 'cancelable', lateMs: LATE_MS },
    ask: { path: '/bookings?ref={reference}', found: '/bookings', reference: '/ref' },
    cancel: { method: 'DELETE', path: '/bookings/{id}', id: '/id', undone: '/cancelled' },
  },
];

export async function service(): Promise<Service> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let underWay = 0;
  /** Under way until its answer is read, or lost. */
  const send: Send = async (outgoing, signal) => {
    underWay++;
    let isOver = false;
    const over = () => {
      if (!isOver) underWay--;
      isOver = true;
    };
    try {
      const incoming = await sendForReal(outgoing, signal);
      return {
        ...incoming,
        close() {
          incoming.close();
          over();
        },
      };
    } catch (error) {
      over();
      throw error;
    }
  };
  const sealer = { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes };
  const fetch = fetchTool({ grants: [{ name: 'hotel', origin, rules: RULES }], sealer, send });
  const self: Service = {
    origin,
    tools: [fetch, httpTool(fetch)],
    bookings: [],
    seen: [],
    tear: 0,
    refuseLists: 0,
    isUnderWay: () => underWay > 0,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const body = await text(request);
    self.seen.push({ method, url, body, type: headers['content-type'] ?? '' });
    response.sendDate = false;
    const say = (status: number, json: unknown = null) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    if (method === 'DELETE') {
      const found = self.bookings.find(({ id }) => url === `/bookings/${id}`);
      if (found) found.cancelled = true;
      return void say(found ? 200 : 404);
    }
    const ref = new URL(url, origin).searchParams.get('ref');
    if (method === 'GET') {
      if (ref !== null && self.refuseLists-- > 0) return void say(503);
      return void say(200, { bookings: self.bookings.filter((booking) => booking.ref === ref) });
    }
    const booking = {
      id: `b${self.bookings.length + 1}`,
      ref: String(headers['x-reference']),
      cancelled: false,
    };
    if (url === '/bookings') self.bookings.push(booking);
    if (self.tear-- > 0) return void request.socket.destroy();
    say(201, url === '/bookings' ? booking : { noted: body });
  }

  return self;
}
