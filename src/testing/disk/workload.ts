/**
 * What is recorded: several sessions side by side over three lives of a store, by a seed.
 *
 * W1  Commits of one tick share a group, also with entries in the owner's books; some carry blobs of kilobytes, start
 *     keys, an epoch, or none. Now and then one is refused. Leases and slots are taken and let go, words are indexed.
 * W2  The first life is closed in order, the second is killed, the third is under way when the record ends. The
 *     write-ahead log is kept short, so that checkpoints and new beginnings of it are in the record.
 * W3  Nothing is asked of a session while a lease of it is being taken: the order of what is asked is the log's.
 * W4  Now and then a session is erased; it goes on behind its tombstone.
 */

import type { Blob, Commit, Store } from '../../store/port.ts';
import { sampleBlob, sampleCommit, sampleId, sampleSummary } from '../../store/sample.ts';
import { type Dice, diceOf } from '../dice.ts';
import { bookkeeper } from './accounts.ts';
import { type Disk, memoryDisk } from './disk.ts';
import { erasuresOf, putBatch } from './indexes.ts';
import { type AskedCommit, type Ledger, sessionsOf } from './ledger.ts';
import { type Change, startLife } from './store.ts';

export interface Recording {
  readonly disk: Disk;
  readonly ledger: Ledger;
}

/** What names a record completely. */
export interface Workload {
  readonly seed: number;
  readonly sessions: number;
  /** Ticks of each life. */
  readonly rounds: number;
  /** Pages in the write-ahead log that bring a checkpoint. */
  readonly checkpointAt: number;
}

/** More than there are sessions. */
const SLOTS = 100;

export async function record(workload: Workload, mutant?: () => Change): Promise<Recording> {
  const disk = memoryDisk();
  const ledger: Ledger = { commits: [], epochs: [], entries: [], batches: [] };
  const dice = diceOf(workload.seed);
  const keepBooks = bookkeeper(ledger, disk);
  // A planted bug must show by a power cut, so no life of it is killed.
  for (const ends of ['closed', mutant ? 'closed' : 'killed', 'under way']) {
    const life = await startLife(disk, { checkpointAt: workload.checkpointAt, change: mutant?.() });
    const epochs = new Map<number, number>();
    for (let round = 0; round < workload.rounds; round++) {
      await Promise.all([
        commits(life.store, disk, ledger, epochs, dice, workload.sessions),
        keepBooks(life.store, dice),
      ]);
      await words(life.store, disk, ledger, dice);
      await leases(life.store, disk, ledger, epochs, dice);
    }
    if (ends === 'closed') await life.store.close();
    else life.kill();
  }
  return { disk, ledger };
}

async function commits(
  store: Store,
  { ops }: Disk,
  ledger: Ledger,
  epochs: ReadonlyMap<number, number>,
  dice: Dice,
  sessions: number,
): Promise<void> {
  const asked: Promise<void>[] = [];
  const heads = new Map<number, number>();
  for (let n = 1 + dice.roll(3); n > 0; n--) {
    const index = dice.roll(sessions);
    const head = heads.get(index) ?? headOf(ledger, index);
    const commit = made(dice, index, head, epochs.get(index) ?? null);
    heads.set(index, head + commit.events.length);
    asked.push(ask(commit));
    if (dice.chance(15)) asked.push(ask(sampleCommit(sampleId(index), head, { count: 2 })));
  }
  await Promise.all(asked);

  async function ask(commit: Commit): Promise<void> {
    const entry: AskedCommit = { commit, askedAt: ops.length, ackedAt: Infinity, isRefused: false };
    ledger.commits.push(entry);
    const { status } = await store.commit(commit);
    entry.isRefused = status !== 'committed';
    entry.ackedAt = ops.length;
  }
}

async function words(store: Store, disk: Disk, ledger: Ledger, dice: Dice): Promise<void> {
  if (!dice.chance(70)) return;
  const there = sessionsOf(ledger);
  const session = there[dice.roll(there.length)] as (typeof there)[number];
  if (erasuresOf(ledger, session).length > 0) return;
  await putBatch(store, disk, ledger, dice, { session, head: headOf(ledger, numberOf(session)) });
}

async function leases(
  store: Store,
  { ops }: Disk,
  ledger: Ledger,
  epochs: Map<number, number>,
  dice: Dice,
): Promise<void> {
  if (!dice.chance(40)) return;
  const there = sessionsOf(ledger);
  const index = dice.roll(there.length);
  const session = there[index] as (typeof there)[number];
  const held = epochs.get(numberOf(session));
  if (held !== undefined) {
    epochs.delete(numberOf(session));
    if (dice.chance(50)) await store.free(session, held);
    await store.release(session, held);
    return;
  }
  const askedAt = ops.length;
  const lease = await store.acquire(session, 'worker', 60_000);
  if (lease.status !== 'acquired') throw new Error('every lease of this workload is free');
  ledger.epochs.push({ session, epoch: lease.epoch, askedAt, ackedAt: ops.length });
  epochs.set(numberOf(session), lease.epoch);
  await store.claim(session, lease.epoch, SLOTS, 60_000);
}

function made(dice: Dice, index: number, head: number, epoch: number | null): Commit {
  const session = sampleId(index);
  if (head > 0 && dice.chance(12)) return erasing(session, head, epoch);
  const count = 1 + dice.roll(3);
  const base = sampleCommit(session, head, { count, epoch });
  const fill = 'x'.repeat(dice.chance(30) ? 500 + dice.roll(5000) : 20);
  const updatedAt = 1000 + head + count;
  return {
    ...base,
    events: base.events.map((event) => ({ ...event, body: JSON.stringify({ n: event.seq, fill }) })),
    blobs: dice.chance(35) ? [blob(dice)] : [],
    summary: sampleSummary({ updatedAt, dueAt: dice.chance(50) ? updatedAt : null, turn: head + count }),
    ...(head === 0 ? { startKey: `start ${index}` } : {}),
  };
}

function erasing(session: Commit['session'], head: number, epoch: number | null): Commit {
  const summary = sampleSummary({ phase: 'deleted', updatedAt: 1001 + head, turn: head + 1 });
  return sampleCommit(session, head, { epoch, summary, erases: true });
}

function blob(dice: Dice): Blob {
  const bytes = new Uint8Array(500 + dice.roll(8000));
  for (let i = 0; i < bytes.length; i += 16) bytes[i] = dice.roll(256);
  return sampleBlob(bytes);
}

function headOf(ledger: Ledger, index: number): number {
  const done = ledger.commits.filter(
    ({ commit, isRefused }) => commit.session === sampleId(index) && !isRefused,
  );
  return done.reduce((head, { commit }) => head + commit.events.length, 0);
}

function numberOf(session: string): number {
  return Number(session.slice(-14));
}
