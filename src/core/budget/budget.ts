/**
 * Budgets and what was spent: money, tokens, steps and time, and how they are put into words. Pure.
 *
 * B1  Money is micro-dollars, as integers, in all arithmetic: 1_000_000 is one dollar.
 * B2  A call without a known price is counted as unpriced, never as free.
 * B3  What the log knows is `Spent`. What a crash took with it stands in the owner's ledger of the store alone, which
 *     therefore may count more, and never less.
 */

/** What a budget can bound. */
export interface Amounts {
  readonly microUsd: number;
  /** Of requests and replies, what was cached included. */
  readonly tokens: number;
  /** Model calls. */
  readonly steps: number;
  /** Time of model calls and effects, added up. Neither downtime nor waiting for people counts. */
  readonly ms: number;
}

export type What = keyof Amounts;
export const WHATS: readonly What[] = ['microUsd', 'tokens', 'steps', 'ms'];

/** Limits; what is not there is not limited. */
export type Budget = { readonly [One in What]?: number | undefined };

export interface Budgets {
  readonly turn: Budget;
  readonly session: Budget;
}

/** Whose budget it is. */
export type Scope = 'turn' | 'session' | 'owner';

export const NO_BUDGETS: Budgets = { turn: {}, session: {} };

export interface Spent extends Amounts {
  /** Model calls for which no price was known: what they cost is in no sum. */
  readonly unpriced: number;
  /** Model calls that came to no end, so that nobody knows what they cost. */
  readonly lost: number;
}

export const NOTHING_SPENT: Spent = { microUsd: 0, tokens: 0, steps: 0, ms: 0, unpriced: 0, lost: 0 };

/** What one call cost, and whose price that is. */
export interface Cost {
  readonly microUsd: number;
  readonly source: string;
}

/** Why a session rests on a budget. Numbers are in the unit of `what`. */
export interface Exhaustion {
  readonly scope: Scope;
  readonly what: What;
  readonly limit: number;
  /** What is used, or held for calls that came to no end. */
  readonly spent: number;
  /** What the next model call may take. */
  readonly needed: number;
  /** `budget.unpriced`: the budget is in money, and what the model costs is not known. */
  readonly code: 'budget.exhausted' | 'budget.unpriced';
}

export interface BudgetState {
  readonly limits: Budgets;
  /** Of the whole session, as far as the log knows. */
  readonly spent: Spent;
  /** What the open turn rests on; null while it rests on no budget. */
  readonly exhausted: Exhaustion | null;
}

export const isLimited = (budget: Budget): boolean => WHATS.some((what) => budget[what] !== undefined);

export function plus(a: Spent, b: Partial<Spent>): Spent {
  return {
    microUsd: a.microUsd + (b.microUsd ?? 0),
    tokens: a.tokens + (b.tokens ?? 0),
    steps: a.steps + (b.steps ?? 0),
    ms: a.ms + (b.ms ?? 0),
    unpriced: a.unpriced + (b.unpriced ?? 0),
    lost: a.lost + (b.lost ?? 0),
  };
}

/** A change of limits: a number sets one, null lifts it, what is not named stays. */
export type BudgetChange = { readonly [One in What]?: number | null | undefined };

export function changed(budget: Budget, change: BudgetChange): Budget {
  const limits = WHATS.flatMap((what) => {
    const limit = change[what] === undefined ? budget[what] : change[what];
    return limit === undefined || limit === null ? [] : [[what, limit] as const];
  });
  return Object.fromEntries(limits);
}

// ── words ──────────────────────────────────────────────────────────────────────────────────────────────────

/** `$0.0123, 4,210 tokens, 12 model calls, 3 min; 2 calls unpriced`. */
export function spentInWords(spent: Spent): string {
  const { steps, unpriced, lost } = spent;
  // Nothing of it has a price: to name a sum would call it free.
  const money = unpriced > 0 && unpriced === steps ? [] : [amountInWords('microUsd', spent.microUsd)];
  const sums = [...money, ...(['tokens', 'steps', 'ms'] as const).map((w) => amountInWords(w, spent[w]))];
  return [
    sums.join(', '),
    ...(unpriced > 0 ? [`${count(unpriced, 'call')} unpriced`] : []),
    ...(lost > 0 ? [`${count(lost, 'call')} without an end, at a cost that is not known`] : []),
  ].join('; ');
}

/** `$2.00, 100,000 tokens`; `none` without a limit. */
export function budgetInWords(budget: Budget): string {
  const limits = WHATS.flatMap((what) => {
    const limit = budget[what];
    return limit === undefined ? [] : [amountInWords(what, limit)];
  });
  return limits.length === 0 ? 'none' : limits.join(', ');
}

export function exhaustionInWords({ scope, what, limit, spent, needed, code }: Exhaustion): string {
  const whose = `The ${scope}'s budget`;
  if (code === 'budget.unpriced') {
    return `${whose} is in money (${amountInWords(what, limit)}), and no price is known for this model: it is not called.`;
  }
  const used = `${amountInWords(what, Math.min(spent, limit))} of ${amountInWords(what, limit)}`;
  return spent >= limit
    ? `${whose} is used up: ${used}.`
    : `${whose} does not reach: ${used} are used, and the next model call may take ${amountInWords(what, needed)}.`;
}

export function amountInWords(what: What, amount: number): string {
  switch (what) {
    case 'microUsd':
      return `$${grouped((amount / 1_000_000).toFixed(amount < 1_000_000 && amount % 10_000 !== 0 ? 4 : 2))}`;
    case 'tokens':
      return count(amount, 'token');
    case 'steps':
      return count(amount, 'model call');
    case 'ms':
      return amount < 60_000 ? `${(amount / 1_000).toFixed(1)} s` : `${(amount / 60_000).toFixed(1)} min`;
  }
}

const count = (n: number, one: string): string => `${grouped(String(n))} ${one}${n === 1 ? '' : 's'}`;

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d)(?<!\.\d*))/g, ',');
