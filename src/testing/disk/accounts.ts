/**
 * The owner's books on a recorded disk: what is asked of them, and what must stand of it after a power cut. What is
 * expected comes from the reference store, asked the same.
 *
 * A1  What was acknowledged counts: a limit, a number of slots, a reservation, a settlement. What was asked for and not
 *     answered counts wholly or not at all, and nothing counts before what was asked for earlier.
 * A2  Reserved or settled again by its key, nothing is counted twice.
 * A3  A slot that a session had ends with the process: it is a lease, and no row.
 */

import { NO_BUDGETS, NOTHING_SPENT, type Spent } from '../../core/budget/budget.ts';
import { assert } from '../../lib/assert.ts';
import { EMPTY_OWNER } from '../../store/ledger.ts';
import { memoryStore } from '../../store/memory.ts';
import type { OwnerBudget, Reservation, Store } from '../../store/port.ts';
import { handClock, local, sampleId } from '../../store/sample.ts';
import type { Dice } from '../dice.ts';
import type { Disk } from './disk.ts';
import type { Asked, Ledger } from './ledger.ts';
import { same } from './same.ts';

/** The books after one more asking. */
export interface Books {
  readonly budget: OwnerBudget;
  /** Reserved and not settled. */
  readonly open: readonly Reservation[];
  readonly settled: readonly Settled[];
}

interface Settled {
  readonly key: string;
  readonly actual: Spent;
}

export interface AskedEntry extends Asked {
  readonly books: Books;
}

const NOTHING: Books = { budget: EMPTY_OWNER, open: [], settled: [] };

/** Asks for a few things, in the tick of whoever calls. */
export function bookkeeper(ledger: Ledger, { ops }: Disk): (store: Store, dice: Dice) => Promise<void> {
  const reference = memoryStore(handClock());
  let { open, settled } = NOTHING;

  return async (store, dice) => {
    const asked = Array.from({ length: 1 + dice.roll(3) }, () => ask(store, dice));
    await Promise.all(asked);
  };

  async function ask(store: Store, dice: Dice): Promise<void> {
    const askedAt = ops.length;
    const answer = entering(dice)(store);
    // The reference does what it is asked before it is asked the next thing, so this is how the books stand now.
    const budget = await reference.budget(local);
    const entry: AskedEntry & { ackedAt: number } = {
      ...{ askedAt, ackedAt: Infinity },
      books: { budget, open, settled },
    };
    ledger.entries.push(entry);
    await answer;
    entry.ackedAt = ops.length;
  }

  /** Chooses, and does it to the reference. */
  function entering(dice: Dice): (store: Store) => Promise<unknown> {
    const enter = chosen(dice);
    void enter(reference);
    return enter;
  }

  function chosen(dice: Dice): (store: Store) => Promise<unknown> {
    const [oldest] = open;
    if (dice.chance(15)) {
      const slots = dice.chance(30) ? null : 1 + dice.roll(9);
      return (store) => store.setSlots(local, slots);
    }
    if (dice.chance(15)) {
      const limits = dice.chance(30) ? null : { microUsd: 10_000_000 + dice.roll(1_000) };
      return (store) => store.setBudget(local, limits);
    }
    if (oldest && dice.chance(45)) {
      const actual = { ...NOTHING_SPENT, microUsd: dice.roll(500), tokens: dice.roll(90), steps: 1 };
      open = open.slice(1);
      settled = [...settled, { key: oldest.key, actual }];
      return (store) => store.settle(local, oldest.key, actual);
    }
    const asked = reservation(`key ${ledger.entries.length}.${open.length}.${settled.length}`, dice.roll(3));
    open = [...open, asked];
    return (store) => store.reserve(asked);
  }
}

function reservation(key: string, index: number): Reservation {
  return {
    ...{ owner: local, session: sampleId(index), turn: 1, key, limits: NO_BUDGETS },
    amounts: { microUsd: 500, tokens: 100, steps: 1, ms: 1_000 },
    spent: { turn: NOTHING_SPENT, session: NOTHING_SPENT },
  };
}

/** A1 and A3. */
export async function judgeBooks(
  store: Store,
  entries: readonly AskedEntry[],
  at: number,
  findings: string[],
): Promise<Books> {
  const budget = await store.budget(local);
  const asked = entries.filter(({ askedAt }) => askedAt < at);
  const acknowledged = asked.filter(({ ackedAt }) => ackedAt <= at).length;
  const books = [NOTHING, ...asked.map((entry) => entry.books)];
  const found = books.slice(acknowledged).find((one) => same(one.budget, budget));
  if (!found) findings.push(`A1 the books say ${JSON.stringify(budget)}: that is none of what they may say`);
  const { working } = await store.queue(local);
  if (working > 0) findings.push(`A3 ${working} slots are taken, and nobody lives`);
  return found ?? { ...NOTHING, budget };
}

/** A2, and one call more. Gives the books as they are to be found. */
export async function keepOn(store: Store, { open, settled }: Books, findings: string[]): Promise<Books> {
  const before = await store.budget(local);
  for (const one of open) await store.reserve(one);
  for (const { key, actual } of settled) await store.settle(local, key, actual);
  if (!same(await store.budget(local), before)) findings.push('A2 what was asked again was counted again');
  await store.setBudget(local, null);
  const { status } = await store.reserve(reservation('one more', 0));
  assert(status === 'granted', 'nothing is limited');
  await store.settle(local, 'one more', { ...NOTHING_SPENT, steps: 1 });
  const budget = await store.budget(local);
  if (budget.spent.steps !== before.spent.steps + 1) findings.push('A2 a further call is not counted once');
  return { budget, open, settled };
}

/** Books as they were found, as entries of which all are acknowledged. */
export const asEntries = (books: Books): AskedEntry[] => [{ askedAt: -1, ackedAt: 0, books }];
