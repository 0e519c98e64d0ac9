/**
 * One service of the bench, a process of its own: `--name NAME --books FOLDER`. It survives every worker.
 *
 * O1  What the bench arms for a run (`/__fate`) befalls the first writes of that run: `lost` (refused unseen), `late`
 *     (applied after a while, whoever waits), `mute` (applied, never answered). Nothing else ever goes wrong here.
 * O2  Nothing is applied later than `LATE_MS` after it came: what a stalled machine would make later is dropped, and
 *     told as missed, so that the bench does not count the run.
 * O3  It ends with its parent: when the pipe to its input closes.
 */

import { writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { systemClock } from '../../lib/clock.ts';
import { LATE_MS, PART, type Service } from '../terms.ts';
import { Book, runOf } from './book.ts';
import { PROFILES } from './profile.ts';

interface Fate {
  readonly kind: 'lost' | 'late' | 'mute';
  /** Of how many items; what comes after them is an ordinary write. */
  readonly items: number;
  readonly lateMs: number;
  /** Of a batch: only a part is done. */
  readonly isCutOff: boolean;
  seen: number;
}

interface Run {
  fate: Fate | null;
  pending: number;
  missed: number;
  /** When what was late was applied, in milliseconds since the epoch. */
  lateAt: number | null;
  /** Resolved when all that the fate is about has come. */
  readonly waiting: (() => void)[];
}

const { values } = parseArgs({ options: { name: { type: 'string' }, books: { type: 'string' } } });
const name = (values.name ?? 'blind') as Service;
const profile = PROFILES[name];
const MARGIN_MS = 10;

const book = new Book(values.books ?? '.', name);
const runs = new Map<string, Run>();

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  writeSync(1, `${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.on('close', () => process.exit(0)).resume();
// Ctrl-C is told by the parent, which still reads the books.
process.on('SIGINT', () => {});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://service');
  switch (`${request.method} ${url.pathname}`) {
    case 'POST /do':
      return write(request, response);
    case 'GET /done':
      return find(url.searchParams.get('reference') ?? '', response);
    case 'POST /__fate':
      return arm((await bodyOf(request)) as Fate & { run: string }, response);
    case 'GET /__seen':
      return seen(url.searchParams.get('run') ?? '', response);
    case 'GET /__state': {
      const { pending, missed, lateAt } = runAt(url.searchParams.get('run') ?? '');
      return send(response, { pending, missed, lateAt });
    }
    default:
      if (request.method === 'DELETE' && url.pathname.startsWith('/done/'))
        return undo(Number(url.pathname.slice('/done/'.length)), response);
      return send(response, { error: 'there is no such path' }, 404);
  }
}

async function write(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const came = systemClock.monotonic();
  const { items } = (await bodyOf(request)) as { items: readonly string[] };
  const header = request.headers[profile.keptMs === null ? 'x-reference' : 'idempotency-key'];
  const reference = typeof header === 'string' ? header : null;
  const run = runAt(runOf(items[0] ?? '.'));
  const { fate } = run;
  if (!fate || fate.seen >= fate.items) {
    for (const what of items) apply(what, reference);
    return send(response, { ok: true, items });
  }
  // O2. Never answered: the client dies, or gives up.
  const first = fate.seen;
  fate.seen += items.length;
  if (fate.kind === 'mute') {
    const done = fate.isCutOff ? Math.max(0, PART - first) : items.length;
    for (const what of items.slice(0, done)) apply(what, reference);
  }
  if (fate.kind === 'late') void applyLate(run, items, reference, came, fate.lateMs);
  if (fate.seen >= fate.items) for (const wake of run.waiting.splice(0)) wake();
}

async function applyLate(
  run: Run,
  items: readonly string[],
  reference: string | null,
  came: number,
  lateMs: number,
): Promise<void> {
  run.pending++;
  await systemClock.sleep(lateMs);
  // O2.
  if (systemClock.monotonic() - came > LATE_MS - MARGIN_MS) run.missed++;
  else {
    run.lateAt ??= systemClock.now();
    for (const what of items) apply(what, reference);
  }
  run.pending--;
}

function apply(what: string, reference: string | null): void {
  if (!book.isKnown(reference, systemClock.now(), profile.keptMs))
    book.append({ what, reference, undoes: null });
}

function find(reference: string, response: ServerResponse): void {
  if (!profile.isAskable) return void send(response, { error: 'it cannot be asked' }, 404);
  send(response, { records: book.shown(reference, profile.lagMs) });
}

function undo(id: number, response: ServerResponse): void {
  if (!profile.canUndo) return void send(response, { error: 'it cannot undo' }, 404);
  send(response, { ok: book.undo(id) });
}

function arm({ run, ...fate }: Fate & { run: string }, response: ServerResponse): void {
  runAt(run).fate = { ...fate, seen: 0 };
  send(response, { ok: true });
}

async function seen(name: string, response: ServerResponse): Promise<void> {
  const run = runAt(name);
  const isOver = (): boolean => run.fate !== null && run.fate.seen >= run.fate.items;
  if (!isOver()) await new Promise<void>((resolve) => run.waiting.push(resolve));
  send(response, { ok: true });
}

function runAt(name: string): Run {
  const known = runs.get(name) ?? { fate: null, pending: 0, missed: 0, lateAt: null, waiting: [] };
  runs.set(name, known);
  return known;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
