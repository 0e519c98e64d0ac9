/**
 * The way out of one session: a proxy beside its supervisor, outside of the walls, that connects to what is listed and to
 * nothing else. A program of its own, since whoever is behind the outer wall has no network.
 *
 * E1  It is asked by HTTP, `CONNECT` or an absolute address, over a unix socket that only the supervisor relays to.
 * E2  Host and port are checked as they are asked for, and names are resolved here: nothing inside resolves any.
 * E3  It lives as long as the supervisor holds the other socket, and no longer.
 */

import { chmodSync, rmSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, createServer as createNetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemClock } from '../../../lib/clock.ts';
import { allowedOf, isAllowed } from './allow.ts';

const [path = '', holdPath = '', ...list] = process.argv.slice(2);
const allowed = allowedOf(list);
/** For its supervisor to come. */
const WAIT_MS = 20_000;

const proxy = createServer(forward);
proxy.on('connect', tunnel);
proxy.on('clientError', (_, socket) => socket.destroy());

const hold = createNetServer((socket) => {
  isHeld = true;
  socket.on('error', () => socket.destroy());
  socket.on('close', leave);
  socket.resume();
});
let isHeld = false;

rmSync(path, { force: true });
rmSync(holdPath, { force: true });
proxy.listen(path, () => {
  chmodSync(path, 0o600);
  hold.listen(holdPath, () => {
    chmodSync(holdPath, 0o600);
    writeSync(1, '{"ready":true}\n');
  });
});
void systemClock.sleep(WAIT_MS).then(() => isHeld || leave());

function leave(): never {
  rmSync(path, { force: true });
  rmSync(holdPath, { force: true });
  process.exit(0);
}

/** `CONNECT host:port`: bytes both ways. */
function tunnel({ url = '' }: IncomingMessage, client: Duplex, head: Buffer): void {
  const [, host = '', port = ''] = /^(.+):(\d+)$/.exec(url) ?? [];
  client.on('error', () => client.destroy());
  if (!isAllowed(allowed, host, Number(port))) {
    return void client.end(`HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n${refusal(url)}`);
  }
  const far: Socket = connect(Number(port), host.replace(/^\[|\]$/g, ''), () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    far.write(head);
    far.pipe(client);
    client.pipe(far);
  });
  far.on('error', () => client.destroy());
  far.on('close', () => client.destroy());
  client.on('close', () => far.destroy());
}

/** Plain HTTP, asked for by its whole address. */
function forward(asked: IncomingMessage, answer: ServerResponse): void {
  const { url = '', method = 'GET', headers } = asked;
  const target = URL.canParse(url) ? new URL(url) : null;
  const port = Number(target?.port || 80);
  if (target?.protocol !== 'http:' || !isAllowed(allowed, target.hostname, port)) {
    answer.writeHead(403, { 'content-type': 'text/plain' });
    answer.end(refusal(target?.host ?? url));
    return;
  }
  const { 'proxy-connection': _, 'proxy-authorization': __, ...rest } = headers;
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const path = target.pathname + target.search;
  const far = request({ host, port, path, method, headers: { ...rest, host: target.host } }, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.pipe(answer);
  });
  far.on('error', () => {
    if (!answer.headersSent) answer.writeHead(502);
    answer.end();
  });
  asked.pipe(far);
}

const refusal = (what: string): string => `${what} is not among the hosts that this sandbox may reach.\n`;
