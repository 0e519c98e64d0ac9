/** The event kinds of budgets. */

import type { Usage } from '../message.ts';
import type { Budget, Cost, Exhaustion } from './budget.ts';

export type BudgetEvent =
  /** All limits as they are from here on. */
  | { readonly kind: 'budget.set'; readonly turn: Budget; readonly session: Budget; readonly by: string }
  | ({
      readonly kind: 'budget.exhausted';
      readonly turn: number;
      readonly step: number;
      /** A call that was cut off at what was left; nothing of its reply is used. Null as a rule: none was made. */
      readonly cut: { readonly usage: Usage; readonly cost: Cost | null; readonly ms: number } | null;
    } & Exhaustion);
