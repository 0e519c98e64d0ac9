/**
 * Decisions: what only a person can say.
 *
 * D1  A decision is made once; the first answer in the log wins.
 * D2  A decision whose effect was settled by other evidence is moot and can be made no more.
 */

import type { EventOf } from '../event.ts';
import type { EffectId } from '../ids.ts';
import type { State } from '../state.ts';

export function requested(s: State, e: EventOf<'decision.requested'>): State {
  const { decision: id, effect, question, options } = e;
  const attempt = s.effects.open.find((open) => open.id === effect)?.attempts ?? 0;
  return {
    ...s,
    counters: { ...s.counters, decision: s.counters.decision + 1 },
    decisions: [
      ...s.decisions,
      { id, effect, attempt, question, options, requestedAt: e.at, made: null, moot: false },
    ],
  };
}

export function made(s: State, e: EventOf<'decision.made'>): State {
  return {
    ...s,
    decisions: s.decisions.map((decision) =>
      decision.id === e.decision && !decision.made
        ? { ...decision, made: { answer: e.answer, text: e.text, by: e.by, at: e.at } }
        : decision,
    ),
  };
}

export function mootDecisions(s: State, effect: EffectId): State {
  if (!s.decisions.some((decision) => decision.effect === effect && !decision.made)) return s;
  return {
    ...s,
    decisions: s.decisions.map((decision) =>
      decision.effect === effect && !decision.made ? { ...decision, moot: true } : decision,
    ),
  };
}
