/** Commands about budgets. Pure; inputs, like those of ../decide.ts. */

import { refusal } from '../error.ts';
import type { EventBody } from '../event.ts';
import { refuseForeign } from '../lifetime.ts';
import type { State } from '../state.ts';
import { type BudgetChange, changed, WHATS } from './budget.ts';

export interface BudgetChanges {
  readonly turn?: BudgetChange;
  readonly session?: BudgetChange;
}

/** New limits, in every state. A turn that rests on a budget tries again, also when nothing has changed. */
export function setBudget(s: State, changes: BudgetChanges, by: string): readonly EventBody[] {
  refuseForeign(s);
  const { limits, exhausted } = s.budget;
  const turn = changed(limits.turn, changes.turn ?? {});
  const session = changed(limits.session, changes.session ?? {});
  checkLimits(turn, session);
  const isSame = WHATS.every(
    (what) => turn[what] === limits.turn[what] && session[what] === limits.session[what],
  );
  return isSame && exhausted === null ? [] : [{ kind: 'budget.set', turn, session, by }];
}

/** Throws `budget.invalid` unless each limit is a whole number from 0 up. */
export function checkLimits(...budgets: readonly BudgetChange[]): void {
  const isWrong = (limit: number | null | undefined): boolean =>
    limit !== undefined && limit !== null && !(Number.isSafeInteger(limit) && limit >= 0);
  if (!budgets.some((budget) => Object.values(budget).some(isWrong))) return;
  throw refusal(
    'budget.invalid',
    'A limit is a whole number from 0 up; money is in micro-dollars.',
    'one dollar is { microUsd: 1_000_000 }; on the command line usd=1',
  );
}
