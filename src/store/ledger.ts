/**
 * The arithmetic of an owner's ledger, the same for every adapter: what is reserved, for whom it is too much, and what
 * a settlement makes of it. Pure; an adapter loads these books, asks, and writes what comes back, in one transaction.
 *
 * L1  A reservation counts in full from when it is made. It ends with its settlement and with nothing else, so a call
 *     whose worker died has cost the most that it could.
 * L2  The books do not grow with the calls: sums for each owner and each session, and a line for each open reservation.
 * L3  What a session's log knows is the least that its account says: calls made while nothing had a limit count too.
 */

import {
  type Amounts,
  type Budget,
  NOTHING_SPENT,
  plus,
  type Scope,
  type Spent,
  WHATS,
} from '../core/budget/budget.ts';
import type { Exhausted, OwnerBudget, Reservation, Reserved } from './port.ts';

/** What is kept of a session; a turn that is over is forgotten. */
export interface Account {
  readonly turn: number;
  readonly turnSpent: Spent;
  readonly turnHeld: Amounts;
  readonly spent: Spent;
  readonly held: Amounts;
}

/** An open reservation. */
export interface Hold {
  readonly session: string;
  readonly turn: number;
  readonly amounts: Amounts;
}

/** All that a reservation or a settlement has to know; null for what is not there yet. */
export interface Books {
  readonly owner: OwnerBudget | null;
  readonly account: Account | null;
  readonly hold: Hold | null;
}

export interface Entered {
  readonly owner: OwnerBudget;
  readonly account: Account;
  /** Null takes it out of the books. */
  readonly hold: Hold | null;
}

const ZERO: Amounts = { microUsd: 0, tokens: 0, steps: 0, ms: 0 };

export const EMPTY_OWNER: OwnerBudget = { limits: {}, spent: NOTHING_SPENT, held: ZERO };

/** The owner's line with this number of slots of its own, or with none. */
export function withSlots({ slots: _, ...owner }: OwnerBudget, slots: number | null): OwnerBudget {
  return slots === null ? owner : { ...owner, slots };
}

const EMPTY_ACCOUNT: Account = {
  turn: 0,
  turnSpent: NOTHING_SPENT,
  turnHeld: ZERO,
  spent: NOTHING_SPENT,
  held: ZERO,
};

/** Nothing is to be written when `entered` is null. */
export function reserve(books: Books, asked: Reservation): { result: Reserved; entered: Entered | null } {
  if (books.hold) return { result: { status: 'granted', ms: books.hold.amounts.ms }, entered: null };
  const account = known(books.account, asked);
  const owner = timed(books.owner ?? EMPTY_OWNER, books.account, account);
  const scopes: readonly Bounds[] = [
    // One of an earlier turn comes from a holder that has been replaced: its call counts, and ends no turn of today.
    ...(asked.turn === account.turn
      ? [
          {
            scope: 'turn',
            limits: asked.limits.turn,
            spent: account.turnSpent,
            held: account.turnHeld,
          } as const,
        ]
      : []),
    { scope: 'session', limits: asked.limits.session, spent: account.spent, held: account.held },
    { scope: 'owner', ...owner },
  ];
  const refused = scopes.map((bounds) => refusal(bounds, asked.amounts)).find((found) => found !== null);
  if (refused) return { result: refused, entered: null };
  const ms = Math.min(asked.amounts.ms, ...scopes.map((bounds) => left(bounds, 'ms')));
  const amounts: Amounts = { ...asked.amounts, microUsd: asked.amounts.microUsd ?? 0, ms };
  const isCurrent = asked.turn === account.turn;
  return {
    result: { status: 'granted', ms },
    entered: {
      owner: { ...owner, held: added(owner.held, amounts) },
      account: {
        ...account,
        held: added(account.held, amounts),
        turnHeld: isCurrent ? added(account.turnHeld, amounts) : account.turnHeld,
      },
      hold: { session: asked.session, turn: asked.turn, amounts },
    },
  };
}

/** Null when there is nothing to settle: it was, before. */
export function settle({ owner, account, hold }: Books, actual: Spent): Entered | null {
  if (!hold || !owner || !account) return null;
  const isCurrent = hold.turn === account.turn;
  return {
    owner: { ...owner, spent: plus(owner.spent, actual), held: added(owner.held, hold.amounts, -1) },
    account: {
      ...account,
      spent: plus(account.spent, actual),
      held: added(account.held, hold.amounts, -1),
      turnSpent: isCurrent ? plus(account.turnSpent, actual) : account.turnSpent,
      turnHeld: isCurrent ? added(account.turnHeld, hold.amounts, -1) : account.turnHeld,
    },
    hold: null,
  };
}

interface Bounds {
  readonly scope: Scope;
  readonly limits: Budget;
  readonly spent: Spent;
  readonly held: Amounts;
}

function refusal(bounds: Bounds, amounts: Reservation['amounts']): Exhausted | null {
  for (const what of WHATS) {
    const limit = bounds.limits[what];
    if (limit === undefined) continue;
    const { scope } = bounds;
    const spent = bounds.spent[what] + bounds.held[what];
    const amount = amounts[what];
    const status = 'exhausted';
    if (amount === null) {
      return { status, scope, what, limit, spent, needed: 0, code: 'budget.unpriced', isHeld: false };
    }
    // Time needs no estimate: the call gets what is left, and ends there.
    const needed = what === 'ms' ? Math.min(amount, 1) : amount;
    if (spent + needed <= limit) continue;
    const isHeld = bounds.spent[what] + needed <= limit;
    return { status, scope, what, limit, spent, needed, code: 'budget.exhausted', isHeld };
  }
  return null;
}

function left({ limits, spent, held }: Bounds, what: keyof Amounts): number {
  const limit = limits[what];
  return limit === undefined ? Number.POSITIVE_INFINITY : limit - spent[what] - held[what];
}

/** L3, and a new turn begins at nothing. */
function known(before: Account | null, { turn, spent }: Reservation): Account {
  const account = before ?? EMPTY_ACCOUNT;
  const session = { ...account, spent: atLeast(account.spent, spent.session) };
  if (turn < account.turn) return session;
  const isNew = turn > account.turn;
  return {
    ...session,
    turn,
    turnHeld: isNew ? ZERO : account.turnHeld,
    turnSpent: atLeast(isNew ? NOTHING_SPENT : account.turnSpent, spent.turn),
  };
}

/** Effects take time beside the calls that are settled here: what the account has learned of it is the owner's too. */
function timed(owner: OwnerBudget, before: Account | null, after: Account): OwnerBudget {
  const more = before ? after.spent.ms - before.spent.ms : 0;
  return more === 0 ? owner : { ...owner, spent: plus(owner.spent, { ms: more }) };
}

function atLeast(spent: Spent, least: Spent): Spent {
  const max = (what: keyof Spent): number => Math.max(spent[what], least[what]);
  return {
    microUsd: max('microUsd'),
    tokens: max('tokens'),
    steps: max('steps'),
    ms: max('ms'),
    unpriced: max('unpriced'),
    lost: spent.lost,
  };
}

function added(a: Amounts, b: Amounts, sign: 1 | -1 = 1): Amounts {
  return {
    microUsd: a.microUsd + sign * b.microUsd,
    tokens: a.tokens + sign * b.tokens,
    steps: a.steps + sign * b.steps,
    ms: a.ms + sign * b.ms,
  };
}
