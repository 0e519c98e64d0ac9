/**
 * The outside: one process with five services, that survives every kill of the server. `bill` can be asked for an
 * X-Reference and told to undo a row, `pay` deduplicates by the Idempotency-Key, `mail` can be asked for an X-Reference,
 * `post` does none of these, `look` reads.
 *
 * O1  A row is on disk (fsync) before its answer goes out. Rows are only ever added.
 * O2  A request is applied a random while after it came, and answered a random while after that, whether or not its
 *     client is still there; a few connections are cut instead, before or after.
 * O3  Nothing is applied later than promised. The time runs from the last moment at which the request cannot have been
 *     there yet, so a machine that stalls makes a request fail rather than late.
 * O4  It ends with its parent: when the pipe to its input closes.
 * O5  `/arrivals` tells when each write came and under which epoch, whatever became of it.
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { systemClock } from '../../lib/clock.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import { SERVICES, type ServiceName } from './batch.ts';
import { bookOf, LATE_MS, type Row, rowsIn, standing } from './books.ts';

const { values } = parseArgs({
  options: { books: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const dir = values.books ?? '.';
const { next: random } = seededEntropy(Number(values.seed));

/** Well inside the promise: also what the clocks and timers of a busy machine lose must fit. */
const APPLY_MAX_MS = LATE_MS - 80;
const TICK_MS = 10;
const CUT = 0.02;

mkdirSync(dir, { recursive: true });
const files = new Map(SERVICES.map((service) => [service, openSync(bookOf(dir, service), 'a')]));
const rows: Row[] = SERVICES.flatMap((service) =>
  existsSync(bookOf(dir, service)) ? rowsIn(bookOf(dir, service)) : [],
);
const arrivals: { readonly at: number; readonly epoch: number }[] = [];
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
  const name = url.pathname.slice(1);
  if (name === 'pending') return send(response, { pending });
  if (name === 'arrivals') return send(response, { arrivals });
  if (name === 'look') {
    await systemClock.sleep(random() * 40);
    return send(response, { rows: rows.length });
  }
  const undone = /^bill\/(\d+)$/.exec(name)?.[1];
  if (undone !== undefined && request.method === 'DELETE') return undo(Number(undone), response);
  const service = SERVICES.find((one) => one === name);
  if (!service) {
    response.writeHead(404).end();
    return;
  }
  if (request.method === 'GET') {
    const reference = url.searchParams.get('reference');
    const own = rows.filter((row) => row.service === service && row.undoes === null);
    const stand = new Set(standing(rows));
    const records = own.filter((row) => row.reference === reference);
    return send(response, { records: records.map((row) => ({ ...row, undone: !stand.has(row) })) });
  }
  arrivals.push({ at: systemClock.now(), epoch: Number(request.headers['x-outlast-epoch'] ?? 0) });
  pending++;
  try {
    await write(service, request, response);
  } finally {
    pending--;
  }
}

async function write(
  service: ServiceName,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const since = sentAfter.get(request.socket) ?? 0;
  const header = request.headers[service === 'pay' ? 'idempotency-key' : 'x-reference'];
  const reference = service !== 'post' && typeof header === 'string' ? header : null;
  const { what } = JSON.parse(await bodyOf(request)) as { what: string };
  const fate = random();
  if (fate < CUT) return void response.destroy();
  // Mostly soon, now and then about as late as the promise allows.
  await systemClock.sleep(5 + (random() < 0.12 ? random() * (APPLY_MAX_MS - 60) : random() * 100));
  if (systemClock.monotonic() - since > APPLY_MAX_MS) return void response.destroy();
  apply(service, what, reference);
  if (fate < 2 * CUT) return void response.destroy();
  await systemClock.sleep(random() * 150);
  send(response, { ok: true, what });
}

/** O1. */
function apply(service: ServiceName, what: string, reference: string | null): void {
  if (service === 'pay' && rows.some((row) => row.service === 'pay' && row.reference === reference)) return;
  append({ service, what, reference, undoes: null });
}

/** Its answer is slow, and now and then lost: whoever asked may be gone before it comes. */
async function undo(id: number, response: ServerResponse): Promise<void> {
  const row = standing(rows).find((one) => one.service === 'bill' && one.id === id);
  if (row) append({ ...row, undoes: id });
  if (random() < 2 * CUT) return void response.destroy();
  await systemClock.sleep(random() * 100);
  send(response, { ok: row !== undefined });
}

function append(entry: Pick<Row, 'service' | 'what' | 'reference' | 'undoes'>): void {
  const { service } = entry;
  const id = rows.filter((row) => row.service === service).length + 1;
  const row: Row = { ...entry, id, at: systemClock.now() };
  const file = files.get(service);
  if (file === undefined) return;
  writeSync(file, `${JSON.stringify(row)}\n`);
  rows.push(row);
  fsyncSync(file);
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

process.on('exit', () => {
  for (const file of files.values()) closeSync(file);
});
