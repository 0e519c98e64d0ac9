import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { NotSent } from '../port.ts';
import { type Outgoing, send } from './send.ts';

const running: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of running.splice(0)) server.close();
});

async function listening(server: Server): Promise<string> {
  running.push(server);
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const http = (listener: RequestListener) => listening(createServer(listener));
const tcp = (onSocket: (socket: Socket) => void) => listening(createTcpServer(onSocket));

const never = new AbortController().signal;
const post = (url: string): Outgoing => ({ method: 'POST', url, headers: { 'x-a': 'b' }, body: 'é' });
const failing = (url: string, signal = never): Promise<unknown> =>
  send(post(url), signal).then(
    () => 'an answer',
    (error: unknown) => error,
  );

test('one request: what is given is what arrives, on a connection that ends with it', async () => {
  const arrived: unknown[] = [];
  const host = await http((request, response) => {
    request.on('data', (data: Buffer) => arrived.push(data.toString()));
    request.on('end', () => {
      arrived.push(request.method, request.url, request.headers);
      response.writeHead(302, [
        ...['Location', '/elsewhere', 'Link', '<a>', 'Link', '<b>', 'Set-Cookie', 'a', 'Set-Cookie', 'b'],
      ]);
      response.end('moved');
    });
  });
  const incoming = await send(post(`http://${host}/a?b=c`), never);
  expect(incoming).toMatchObject({ status: 302, headers: { location: '/elsewhere', link: '<a>, <b>' } });
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming.body) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('moved');
  expect(arrived).toEqual([
    'é',
    'POST',
    '/a?b=c',
    { host, 'x-a': 'b', 'content-length': '2', connection: 'close' },
  ]);
});

test('C1: what fails before the connection stands was not sent', async () => {
  const free = await tcp(() => {});
  running.splice(0)[0]?.close();
  const plain = await http((_, response) => response.end());
  const silent = await tcp(() => {});
  const aborting = new AbortController();
  const handshake = failing(`https://${silent}/`, aborting.signal);
  await expect.poll(() => sockets.length).toBeGreaterThan(0);
  aborting.abort();
  const failures = await Promise.all([
    failing(`http://${free}/`),
    failing(`http://no-such-host.invalid/`),
    failing(`https://${plain}/`),
    failing(`http://${plain}/`, AbortSignal.abort()),
    handshake,
  ]);
  for (const failure of failures) expect(failure).toBeInstanceOf(NotSent);
  expect((failures[0] as Error).message).toBe('the service could not be reached (ECONNREFUSED)');
});

test('C1: what fails after that is not called unsent', async () => {
  const aborting = new AbortController();
  const hosts = [
    await tcp((socket) => socket.end()),
    await tcp((socket) => socket.once('data', () => socket.resetAndDestroy())),
    await tcp((socket) => socket.once('data', () => socket.end('HTTP/1.1 2'))),
    await tcp((socket) => socket.once('data', () => socket.end('what?\r\n\r\n'))),
    await tcp((socket) => socket.once('data', () => aborting.abort())),
  ];
  for (const [i, host] of hosts.entries()) {
    const failure = await failing(`http://${host}/`, i === hosts.length - 1 ? aborting.signal : never);
    expect([i, failure instanceof Error, failure instanceof NotSent]).toEqual([i, true, false]);
  }
});

test('C2: no connection is used twice', async () => {
  const host = await http((_, response) => response.end('x'));
  for (let n = 0; n < 3; n += 1) {
    const incoming = await send(post(`http://${host}/`), never);
    for await (const _ of incoming.body) break;
    incoming.close();
  }
  expect(sockets).toHaveLength(3);
});

test('an answer that breaks off is thrown while it is read', async () => {
  const host = await tcp((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')),
  );
  const incoming = await send(post(`http://${host}/`), never);
  const reading = (async () => {
    for await (const _ of incoming.body);
  })();
  await expect(reading).rejects.toThrow();
});
