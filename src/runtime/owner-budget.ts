/** An owner's budget: looked at, changed, and then told to the sessions that rest on it. */

import { type BudgetChange, changed } from '../core/budget/budget.ts';
import { checkLimits } from '../core/budget/decide.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import { eachRow } from '../loop/read.ts';
import type { OwnerBudget, Store } from '../store/port.ts';

/**
 * The new limits, first; then every session that rests tries again. Whoever repeats the call after a crash in between
 * wakes the rest of them.
 */
export async function setOwnerBudget(
  owner: Owner,
  change: BudgetChange | null,
  store: Store,
  tryAgain: (session: SessionId) => Promise<unknown>,
): Promise<OwnerBudget> {
  checkLimits(change ?? {});
  const { limits } = await store.budget(owner);
  await store.setBudget(owner, change && changed(limits, change));
  for await (const { id } of eachRow(store, { owner, phase: 'paused' })) await tryAgain(id);
  return store.budget(owner);
}
