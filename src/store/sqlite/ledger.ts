/**
 * An owner's ledger in the tables `budgets` and `holds`: rows in and out. What they mean is `store/ledger.ts`.
 *
 * L1  Each call runs inside a transaction of whoever calls it.
 * L2  A row that cannot be read is damage, and nothing is granted on it: what was spent would be forgotten.
 */

import { OutlastError } from '../../core/error.ts';
import type { Owner } from '../../core/ids.ts';
import { type Account, EMPTY_OWNER, type Entered, type Hold, reserve, settle, withSlots } from '../ledger.ts';
import type { OwnerBudget, Store } from '../port.ts';
import { asJson } from './cell.ts';
import { isDamage } from './damage.ts';
import type { Cells, Database } from './driver.ts';

/** The port's calls, within a transaction. */
export type Ledger = {
  [Name in 'budget' | 'setBudget' | 'setSlots' | 'reserve' | 'settle']: (
    ...args: Parameters<Store[Name]>
  ) => Awaited<ReturnType<Store[Name]>>;
};

/** In place of a session, for the row of the owner. */
const OWN = '';

export function openLedger(db: Database): Ledger {
  const sql = {
    row: db.prepare('SELECT CAST(body AS BLOB) AS body FROM budgets WHERE owner = ? AND session = ?'),
    put: db.prepare(`
      INSERT INTO budgets (owner, session, body) VALUES (?, ?, ?)
      ON CONFLICT (owner, session) DO UPDATE SET body = excluded.body`),
    hold: db.prepare('SELECT CAST(body AS BLOB) AS body FROM holds WHERE owner = ? AND key = ?'),
    keep: db.prepare('INSERT INTO holds (owner, key, body) VALUES (?, ?, ?)'),
    drop: db.prepare('DELETE FROM holds WHERE owner = ? AND key = ?'),
  };

  const ownerOf = (owner: Owner): OwnerBudget | null => bodyOf(owner, sql.row.get(owner, OWN));
  const accountOf = (owner: Owner, session: string): Account | null =>
    bodyOf(owner, sql.row.get(owner, session));
  const holdOf = (owner: Owner, key: string): Hold | null => bodyOf(owner, sql.hold.get(owner, key));

  function enter(owner: Owner, key: string, session: string, entered: Entered): void {
    sql.put.run(owner, OWN, JSON.stringify(entered.owner));
    sql.put.run(owner, session, JSON.stringify(entered.account));
    if (entered.hold) sql.keep.run(owner, key, JSON.stringify(entered.hold));
    else sql.drop.run(owner, key);
  }

  return {
    budget: (owner) => ownerOf(owner) ?? EMPTY_OWNER,

    setBudget(owner, limits) {
      const before = ownerOf(owner) ?? EMPTY_OWNER;
      sql.put.run(owner, OWN, JSON.stringify({ ...before, limits: limits ?? {} }));
    },

    setSlots(owner, slots) {
      sql.put.run(owner, OWN, JSON.stringify(withSlots(ownerOf(owner) ?? EMPTY_OWNER, slots)));
    },

    reserve(asked) {
      const { owner, session, key } = asked;
      const account = accountOf(owner, session);
      const { result, entered } = reserve(
        { owner: ownerOf(owner), account, hold: holdOf(owner, key) },
        asked,
      );
      if (entered) enter(owner, key, session, entered);
      return result;
    },

    settle(owner, key, actual) {
      const hold = holdOf(owner, key);
      if (!hold) return;
      const { session } = hold;
      const entered = settle({ owner: ownerOf(owner), account: accountOf(owner, session), hold }, actual);
      if (entered) enter(owner, key, session, entered);
    },
  };
}

function bodyOf<T>(owner: Owner, cells: Cells | undefined): T | null {
  try {
    return cells ? (asJson(cells.body) as T) : null;
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
    throw new OutlastError('log.damaged', `The ledger of ${owner} cannot be read.`, {
      next: 'put back a backup of the data folder; sessions without a budget go on',
      cause,
    });
  }
}
