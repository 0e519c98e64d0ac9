/**
 * What the person wants now: the orders of all messages, in order, added up. A fold over what was observed.
 *
 * G1  The last instruction counts; corrections (who is left out) stand until they are taken back.
 * G2  What was asked for in a turn is over with its answer. An interrupted turn is not taken up again unless asked.
 * G3  A message that was not understood orders nothing (I1). After an order to mail it holds the mail back: it may have
 *     meant "don't".
 */

import { unreachable } from '../../lib/assert.ts';
import { hear, type Order } from './instructions.ts';
import { type Month, monthOf } from './months.ts';
import type { Called, Entry, Observations } from './observations.ts';

export interface Goal {
  /** The month that is spoken of. */
  readonly month: Month | null;
  /** Parts of customers' names, in lower case. */
  readonly leaveOut: readonly string[];
  /** The account, where the person named it. */
  readonly account: string | null;
  /** Whether this turn is to end with a report. */
  readonly report: boolean;
  readonly mail: 'no' | 'yes' | 'again';
  /** The message that holds the mail back (G3). */
  readonly heldBy: string | null;
  readonly stopped: boolean;
  readonly corrected: boolean;
  /** Messages of this turn that were not understood. */
  readonly strange: readonly string[];
  /** Months that were asked for in this turn, before another one. */
  readonly superseded: readonly Month[];
}

/** How the question for the account begins; an answer to it is read as a name. */
export const ACCOUNT_QUESTION = 'Which account';

interface Fold extends Goal {
  /** What the turn before was about, for "try again". */
  readonly before: Pick<Goal, 'month' | 'report' | 'mail'>;
  readonly reported: Month | null;
  readonly isAccountAsked: boolean;
}

const OPEN = {
  report: false,
  mail: 'no',
  heldBy: null,
  stopped: false,
  corrected: false,
  strange: [],
  superseded: [],
} as const;

const START: Fold = {
  ...OPEN,
  month: null,
  leaveOut: [],
  account: null,
  before: { month: null, report: false, mail: 'no' },
  reported: null,
  isAccountAsked: false,
};

export function goalOf({ entries, turn }: Observations): Goal {
  const since = windowStart(entries, turn);
  return entries.reduce((goal, entry) => step(goal, entry, since), START);
}

/**
 * The first turn that the present one goes on with: itself, or, when it was only woken by the end of a suspended call,
 * the turn in which that call was made.
 */
export function windowStart(entries: readonly Entry[], turn: number): number {
  const own = entries.filter((entry) => entry.turn === turn);
  if (own.some((entry) => entry.kind === 'said')) return turn;
  return Math.min(
    turn,
    ...own.filter((entry): entry is Called => entry.kind === 'called').map((one) => one.askedIn),
  );
}

function step(goal: Fold, entry: Entry, since: number): Fold {
  switch (entry.kind) {
    case 'said':
      return take(goal, entry.text);
    case 'called': {
      const { note, data } = entry;
      return note?.cell === 'report' && data !== null ? { ...goal, reported: monthOf(note.month) } : goal;
    }
    case 'told':
      return goal;
    case 'failed':
      return close(goal, entry.turn, since);
    case 'answered':
      return { ...close(goal, entry.turn, since), isAccountAsked: entry.text.includes(ACCOUNT_QUESTION) };
    case 'interrupted':
      return { ...close(goal, entry.turn, since), month: goal.reported };
    default:
      return unreachable(entry);
  }
}

/** G2. */
function close(goal: Fold, turn: number, since: number): Fold {
  if (turn >= since) return goal;
  const { month, report, mail } = goal;
  const asked = report || mail !== 'no';
  const before = asked ? { month, report, mail } : goal.before;
  return { ...goal, ...OPEN, month: goal.stopped ? goal.reported : month, before, isAccountAsked: false };
}

function take(goal: Fold, text: string): Fold {
  const { orders, strange } = hear(text, goal.isAccountAsked);
  if (strange === null) return orders.reduce(obey, goal);
  const heldBy = goal.mail === 'no' ? goal.heldBy : strange;
  return { ...goal, strange: [...goal.strange, strange], heldBy };
}

function obey(goal: Fold, order: Order): Fold {
  const { month, leaveOut } = goal;
  switch (order.kind) {
    case 'report': {
      if (order.month === null) return { ...goal, report: true, stopped: false };
      const isOther = goal.report && month !== null && month.month !== order.month.month;
      const superseded = isOther ? [...goal.superseded, month] : goal.superseded;
      return { ...goal, month: order.month, report: true, stopped: false, superseded };
    }
    case 'leave-out':
      return corrected(goal, [...leaveOut.filter((who) => who !== order.who), order.who]);
    case 'include':
      return corrected(
        goal,
        leaveOut.filter((who) => !who.includes(order.who) && !order.who.includes(who)),
      );
    case 'mail':
      return { ...goal, mail: order.again ? 'again' : 'yes', heldBy: null, stopped: false };
    case 'no-mail':
      return { ...goal, mail: 'no', heldBy: null, stopped: !goal.report };
    case 'stop':
      return { ...goal, report: false, mail: 'no', heldBy: null, stopped: true };
    case 'again':
      if (goal.report || goal.mail !== 'no') return goal;
      return { ...goal, ...(goal.before.month === null ? {} : goal.before), stopped: false };
    case 'account':
      return {
        ...goal,
        ...(goal.isAccountAsked ? goal.before : {}),
        account: order.name,
        report: month !== null,
      };
    default:
      return unreachable(order);
  }
}

function corrected(goal: Fold, leaveOut: readonly string[]): Fold {
  return { ...goal, leaveOut, corrected: true, report: goal.report || goal.month !== null, stopped: false };
}
