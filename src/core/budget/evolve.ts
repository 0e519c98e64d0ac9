/**
 * Budgets in the fold: the limits in force, what was spent of them as far as the log knows, and whether the open turn
 * rests on one.
 *
 * A1  A turn that rests on a budget is as it was: it goes on from the very step, once somebody changes a limit or
 *     resumes it; enough or not, it tries again.
 */

import type { EventOf } from '../event.ts';
import type { State } from '../state.ts';
import { plus, type Spent } from './budget.ts';

export function set(s: State, e: EventOf<'budget.set'>): State {
  return { ...s, budget: { ...s.budget, limits: { turn: e.turn, session: e.session }, exhausted: null } };
}

export function exhausted(s: State, e: EventOf<'budget.exhausted'>): State {
  const { scope, what, limit, spent, needed, code, cut } = e;
  const charged = cut === null ? s : chargedCall(s, cut);
  if (s.turn?.number !== e.turn || s.turn.step.phase !== 'generating') return charged;
  const at = { scope, what, limit, spent, needed, code };
  return { ...charged, budget: { ...charged.budget, exhausted: at } };
}

/** What a model call cost, as its event says. */
export function chargedCall(s: State, e: Pick<EventOf<'model.completed'>, 'usage' | 'cost' | 'ms'>): State {
  const { usage, cost, ms } = e;
  return charged(s, {
    microUsd: cost?.microUsd ?? 0,
    tokens: usage.inputTokens + usage.outputTokens,
    steps: 1,
    ms,
    unpriced: cost === null ? 1 : 0,
  });
}

export function charged(s: State, more: Partial<Spent>): State {
  return {
    ...s,
    budget: { ...s.budget, spent: plus(s.budget.spent, more) },
    turn: s.turn && { ...s.turn, spent: plus(s.turn.spent, more) },
  };
}

/** A model call was under way and nobody hears its answer: that it cost something is all that is known. */
export const callLost = (s: State, calls = 1): State => (calls === 0 ? s : charged(s, { lost: calls }));

/** How many model calls may be under way in this state. */
export function callsUnderWay({ turn, context, budget, lifetime, at }: State): number {
  if (budget.exhausted !== null || lifetime.status !== 'open' || lifetime.quarantine !== null) return 0;
  const isGenerating = turn?.step.phase === 'generating' && (turn.step.notBefore ?? 0) <= at;
  const isCompacting = context.compacting !== null && context.compacting.notBefore <= at;
  return Number(isGenerating) + Number(isCompacting);
}

export function tryAgain(s: State): State {
  return s.budget.exhausted === null ? s : { ...s, budget: { ...s.budget, exhausted: null } };
}
