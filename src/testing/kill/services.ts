/**
 * The outside: one process with a service of each kind, that survives every kill of the server. What each can do for its
 * clients stands in `books.ts`; `look` reads.
 *
 * O1  A row is on disk before its answer goes out (`book.ts` B1).
 * O2  A request is applied a random while after it came, and answered a random while after that, whether or not its
 *     client is still there; a few connections are cut instead, before or after.
 * O3  Nothing is applied later than promised. The time runs from the last moment at which the request cannot have been
 *     there yet, so a machine that stalls makes a request fail rather than late.
 * O4  It ends with its parent: when the pipe to its input closes.
 * O5  `/arrivals` tells when each write came and under which epoch, whatever became of it.
 * O6  Whether a key is known is judged by when the requests came, not by when they were applied.
 * O7  The batch service dies now and then with items under way, as a process of its own would: what it had applied
 *     stands, nothing is answered, the rest is gone, and for a while nobody is there.
 */

import { writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { Book, runOf } from '../../break/service/book.ts';
import { systemClock } from '../../lib/clock.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import { SERVICES, type ServiceName, serviceAt } from './batch.ts';
import { ABLE, type Arrival, LATE_MS, type Row } from './books.ts';

const { values } = parseArgs({
  options: { books: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const dir = values.books ?? '.';
const { next: random } = seededEntropy(Number(values.seed));

/** Well inside the promise: also what the clocks and timers of a busy machine lose must fit. */
const APPLY_MAX_MS = LATE_MS - 80;
const TICK_MS = 10;
const CUT = 0.02;
/** O7: after how many of the items that it applies, and for how long. */
const DIES = 0.08;
const DEAD_MS = 250;

/** O7. */
class Shop extends Book {
  /** Counts its deaths. */
  life = 1;
  deadUntil = 0;
}

const books = Object.fromEntries(SERVICES.map((name) => [name, new Shop(dir, name)])) as Record<
  ServiceName,
  Shop
>;
const arrivals: Arrival[] = [];
let pending = 0;

// O3. Whatever is accepted in this turn of the loop came after the turn before last.
let ticks: readonly [number, number] = [systemClock.monotonic(), systemClock.monotonic()];
setInterval(() => {
  ticks = [ticks[1], systemClock.monotonic()];
}, TICK_MS);
const sentAfter = new WeakMap<Socket, number>();

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.on('connection', (socket) => sentAfter.set(socket, ticks[0]));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  writeSync(1, `${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.on('close', () => process.exit(0)).resume();
// The end of the campaign is told by its parent; a signal to the whole terminal is not for the outside.
process.on('SIGINT', () => {});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://outside');
  if (url.pathname === '/pending') return send(response, { pending });
  if (url.pathname === '/arrivals') {
    const round = url.searchParams.get('of') ?? '';
    return send(response, { arrivals: arrivals.filter(({ what }) => runOf(what) === round) });
  }
  if (url.pathname === '/look') {
    await systemClock.sleep(random() * 40);
    return send(response, { arrivals: arrivals.length });
  }
  const [, name, id] = /^\/(\w+)\/(\d+)$/.exec(url.pathname) ?? [];
  if (request.method === 'DELETE') return undo(serviceAt(name ?? ''), Number(id), response);
  const service = serviceAt(url.pathname);
  if (service && isDead(service)) return void response.destroy();
  if (service && request.method === 'GET')
    return find(service, url.searchParams.get('reference') ?? '', response);
  if (service && request.method === 'POST') return write(service, request, response);
  response.writeHead(404).end();
}

const isDead = (service: ServiceName): boolean => systemClock.monotonic() < books[service].deadUntil;

async function write(
  service: ServiceName,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const cameAt = systemClock.now();
  pending++;
  try {
    const { what } = JSON.parse(await bodyOf(request)) as { what: string };
    arrivals.push({ at: cameAt, epoch: Number(request.headers['x-outlast-epoch'] ?? 0), service, what });
    const { keptMs } = ABLE[service];
    const header = request.headers[keptMs === null ? 'x-reference' : 'idempotency-key'];
    const reference = service !== 'blind' && typeof header === 'string' ? header : null;
    const since = sentAfter.get(request.socket) ?? 0;
    await applyLater({ service, what, reference, cameAt, since }, response);
  } finally {
    pending--;
  }
}

interface Write extends Pick<Row, 'service' | 'what' | 'reference'> {
  readonly cameAt: number;
  /** O3, on the monotonic clock. */
  readonly since: number;
}

async function applyLater(wanted: Write, response: ServerResponse): Promise<void> {
  const { service, what, since } = wanted;
  const book = books[service];
  const { life } = book;
  const fate = random();
  if (fate < CUT) return void response.destroy();
  // Mostly soon, now and then about as late as the promise allows.
  await systemClock.sleep(5 + (random() < 0.12 ? random() * (APPLY_MAX_MS - 60) : random() * 100));
  if (systemClock.monotonic() - since > APPLY_MAX_MS || book.life !== life) return void response.destroy();
  const { reference, cameAt } = wanted;
  // O6.
  if (!book.isKnown(reference, cameAt, ABLE[service].keptMs))
    book.append({ what, reference, undoes: null }, cameAt);
  if (service === 'batch' && random() < DIES) {
    book.life++;
    book.deadUntil = systemClock.monotonic() + random() * DEAD_MS;
  }
  if (fate < 2 * CUT || book.life !== life) return void response.destroy();
  await systemClock.sleep(random() * 150);
  if (book.life !== life) return void response.destroy();
  send(response, { ok: true, what });
}

function find(service: ServiceName, reference: string, response: ServerResponse): void {
  const { isAskable, lagMs } = ABLE[service];
  if (!isAskable) return void response.writeHead(404).end();
  send(response, { records: books[service].shown(reference, lagMs) });
}

/** Its answer is slow, and now and then lost: whoever asked may be gone before it comes. */
async function undo(service: ServiceName | undefined, id: number, response: ServerResponse): Promise<void> {
  if (!service || !ABLE[service].canUndo) return void response.writeHead(404).end();
  const isThere = books[service].undo(id);
  if (random() < 2 * CUT) return void response.destroy();
  await systemClock.sleep(random() * 100);
  send(response, { ok: isThere });
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
