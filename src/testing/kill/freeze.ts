/**
 * A server that is frozen with SIGSTOP past its lease, and goes on.
 *
 * The embedded store belongs to one process by a lock of the operating system, which a frozen process keeps. So nobody
 * can take the folder over meanwhile: a second server is refused with `store.locked` and changes not one byte. After
 * SIGCONT the first goes on with its own log: it adds nothing to it as a holder before it has taken a lease anew. What it
 * can still do outside is what had left before the freeze, and what it sends itself afterwards, under that new lease; the
 * books say whether anything happened twice.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BookReader } from '../../break/service/book.ts';
import { AUTHORITY, type Event, type ForeignEvent } from '../../core/event.ts';
import { systemClock } from '../../lib/clock.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import { findingsOf } from '../sim/verdict.ts';
import { type Batch, SERVICES, SHAPES } from './batch.ts';
import { type Arrival, readBooks } from './books.ts';
import { judge } from './judge.ts';
import { Person } from './person.ts';
import { type Server, startServer } from './processes.ts';

export interface Frozen {
  readonly seconds: number;
  /** What the second server was told. */
  readonly second: string;
  /** Bytes of the data folder were the same before and after the second server. */
  readonly untouched: boolean;
  /** Events that it appended as a holder after it went on, before it took a lease anew. */
  readonly saidUnderOldLease: number;
  /** Writes that came to the services after it went on, under the lease that it had before: its window outside. */
  readonly sentUnderOldLease: number;
  /** Writes that came under a lease that it took anew. */
  readonly sentUnderNewLease: number;
  readonly findings: readonly string[];
}

/** Longer than the lease of fifteen seconds. */
const FREEZE_MS = 16_000;
const EFFECTS = 24;

interface FreezeOptions {
  readonly dataDir: string;
  readonly server: Server;
  readonly outside: string;
  readonly books: string;
  readonly seed: number;
  readonly signal: AbortSignal;
}

export async function freeze(options: FreezeOptions): Promise<Frozen> {
  const { server, books, seed, signal } = options;
  const reader = new BookReader(books);
  const rows = (): ReturnType<typeof readBooks> => readBooks(reader, 'r0');
  const { next: random } = seededEntropy(seed);
  const person = new Person({ url: server.url, rows, random, name: 'freeze', signal });
  try {
    return await watch(person, options, { rows, random });
  } finally {
    await person.leave();
  }
}

async function watch(
  person: Person,
  options: FreezeOptions,
  { rows, random }: { rows: () => ReturnType<typeof readBooks>; random: () => number },
): Promise<Frozen> {
  const { dataDir, server, outside, signal } = options;
  const batch: Batch = {
    id: 'r0.1',
    shape: SHAPES[Math.floor(random() * SHAPES.length)] ?? 'row',
    wanted: Array.from({ length: EFFECTS }, (_, i) => ({
      service: SERVICES[i % SERVICES.length] ?? 'keyed',
      what: `r0.1.${i + 1}`,
      asks: false,
    })),
  };
  await person.start(batch);
  await person.progress(5_000);
  await systemClock.sleep(random() * 600, signal);

  server.freeze();
  const { epoch } = person.lastLease();
  const before = bytesIn(dataDir);
  const second = await tryAnother(dataDir, outside);
  const untouched = bytesIn(dataDir) === before;
  await systemClock.sleep(FREEZE_MS, signal);
  const thawedAt = systemClock.now();
  server.thaw();

  const inspection = await person.rest();
  const { log, verification } = await person.look();
  const { batches, followed, approvals } = person;
  const { arrivals } = (await (await fetch(`${outside}/arrivals?of=r0`)).json()) as { arrivals: Arrival[] };
  const verdict = judge({
    ...{ batches, followed, log, inspection, verification, arrivals },
    ...{ rows: rows(), approvals: approvals.made, stuck: [] },
  });
  const late = arrivals.filter(({ at }) => at >= thawedAt);
  const sentUnderOldLease = late.filter((arrival) => arrival.epoch <= epoch).length;
  const strangers = log.flatMap((event) =>
    event.kind === 'lease.acquired' && !event.holder.startsWith(`${server.pid}.`)
      ? [`${event.seq}: the lease went to ${event.holder}`]
      : [],
  );
  const overdue = underOldLease(log, thawedAt);
  const findings = [
    ...findingsOf(verdict),
    ...strangers,
    ...overdue.map(({ seq, kind }) => `${seq}: ${kind} was appended under a lease that had ended`),
    ...(second === 'store.locked' ? [] : [`the second server was not refused but: ${second}`]),
    ...(untouched ? [] : ['the second server changed the data folder']),
  ];
  return {
    ...{ seconds: FREEZE_MS / 1_000, second, untouched, sentUnderOldLease },
    saidUnderOldLease: overdue.length,
    sentUnderNewLease: late.length - sentUnderOldLease,
    findings,
  };
}

/**
 * Choices and facts of whoever went on at `thawedAt`, before its next lease. Inputs need none, and evidence is one; and what
 * was being written when it froze has the time of before.
 */
export function underOldLease(
  log: readonly (Event | ForeignEvent)[],
  thawedAt: number,
): readonly (Event | ForeignEvent)[] {
  const since = log.filter(({ at }) => at >= thawedAt);
  const anew = since.findIndex(({ kind }) => kind === 'lease.acquired');
  const before = anew < 0 ? since : since.slice(0, anew);
  return before.filter(({ kind }) => kind in AUTHORITY && AUTHORITY[kind as Event['kind']] !== 'input');
}

/** What becomes of a second server on the folder. */
async function tryAnother(dataDir: string, outside: string): Promise<string> {
  const another = startServer(dataDir, outside);
  const said = await another.said;
  another.signal('SIGKILL');
  await another.exited;
  return said?.ready ? 'it opened the folder' : (said?.code ?? 'it ended without a word');
}

/** Of the store and of what belongs to it; engine builds are a cache. */
function bytesIn(dataDir: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    if (entry.isFile()) hash.update(entry.name).update(readFileSync(join(dataDir, entry.name)));
  }
  return hash.digest('hex');
}
