/**
 * Indexes of words on a recorded disk: which batches are put, and what must be found of them after a power cut.
 *
 * I1  What is found is what stood after one of the askings, none before those that were acknowledged: whole batches, in
 *     order, from the beginning of the log on. The port would allow less; the embedded store has no reason to lose any.
 * I2  An index goes with its log when that is erased, in the same commit, and is not made again.
 */

import type { SessionId } from '../../core/ids.ts';
import type { Batch, Store } from '../../store/port.ts';
import type { Dice } from '../dice.ts';
import type { Disk } from './disk.ts';
import type { Asked, Ledger } from './ledger.ts';
import { same } from './same.ts';

export interface AskedBatch extends Asked {
  readonly session: SessionId;
  readonly batch: Batch;
}

const WORDS = ['invoice', 'march', 'zebra'];

/** Indexes what has come of a session since its last batch, or all of it anew. */
export async function putBatch(
  store: Store,
  { ops }: Disk,
  ledger: Ledger,
  dice: Dice,
  { session, head }: { readonly session: SessionId; readonly head: number },
): Promise<void> {
  const reached = standing(ledger.batches, session).at(-1)?.upTo ?? 0;
  const after = dice.chance(25) ? 0 : reached;
  if (after >= head) return;
  const entry = { session, batch: batchOf(dice, after, head), askedAt: ops.length, ackedAt: Infinity };
  ledger.batches.push(entry);
  const isKept = await store.index(session, entry.batch);
  if (!isKept) throw new Error('every batch of this workload begins where another ends');
  entry.ackedAt = ops.length;
}

function batchOf(dice: Dice, after: number, upTo: number): Batch {
  const bytes = (most: number) => Uint8Array.from({ length: 1 + dice.roll(most) }, () => dice.roll(256));
  const words = WORDS.filter(() => dice.chance(60)).map((word) => [word, bytes(60)] as const);
  return { after, upTo, passages: bytes(900), words: new Map(words) };
}

/** What stands once all these were put: each takes the place of all behind its beginning. */
function standing(asked: readonly AskedBatch[], session: SessionId): readonly Batch[] {
  return asked
    .filter((one) => one.session === session)
    .reduce<readonly Batch[]>(
      (batches, { batch }) => [...batches.filter(({ upTo }) => upTo <= batch.after), batch],
      [],
    );
}

export const erasuresOf = ({ commits }: Ledger, session: SessionId): readonly Asked[] =>
  commits.filter(({ commit, isRefused }) => commit.session === session && commit.erases && !isRefused);

/** I1. */
export async function judgeIndex(
  store: Store,
  session: SessionId,
  ledger: Ledger,
  at: number,
  findings: string[],
): Promise<AskedBatch[]> {
  const asked = ledger.batches.filter((one) => one.session === session && one.askedAt < at);
  const acknowledged = asked.filter(({ ackedAt }) => ackedAt <= at).length;
  const found = await store.search(session, WORDS);
  const possible = Array.from({ length: asked.length - acknowledged + 1 }, (_, more) =>
    standing(asked.slice(0, acknowledged + more), session),
  );
  // I2.
  const erased = erasuresOf(ledger, session).filter(({ askedAt }) => askedAt < at);
  if (erased.some(({ ackedAt }) => ackedAt <= at)) possible.length = 0;
  if (erased.length > 0) possible.push([]);
  if (!possible.some((one) => same(one.map(plain), found.map(plain)))) {
    const ends = found.map(({ after, upTo }) => `${after}-${upTo}`).join(', ');
    findings.push(`I1 the index of ${session} has ${ends}: that is none of what it may have`);
  }
  return found.map((batch) => ({ session, batch, askedAt: -1, ackedAt: 0 }));
}

const plain = ({ after, upTo, passages, words }: Batch): unknown => ({
  ...{ after, upTo, passages: hex(passages) },
  words: Object.fromEntries([...words].map(([word, found]) => [word, hex(found)])),
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
