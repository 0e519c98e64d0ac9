/**
 * Decisions: what only a person can say.
 *
 * D1  A decision is made once; the first answer in the log wins.
 * D2  A decision whose effect was settled by other evidence, or for whose answer nobody waits any more, is moot and can
 *     be made no more.
 * D3  What a person answers to a question of the work reaches whoever asked: the call, the promise in the guest, or
 *     the model, like a message.
 */

import type { EventOf } from '../event.ts';
import type { EffectId } from '../ids.ts';
import type { Decision, State } from '../state.ts';
import { answerGuestDecision, guestAsked } from './heap.ts';
import { reportToSelf } from './inbox.ts';
import { answerCall, updateCall } from './turn.ts';

export function requested(s: State, e: EventOf<'decision.requested'>): State {
  const { decision: id, effect, origin, question, options, choices } = e;
  const attempt = s.effects.open.find((open) => open.id === effect)?.attempts ?? 0;
  const asked: Decision = {
    ...{ id, effect, origin, turn: s.turns, attempt, question, options, choices, requestedAt: e.at },
    ...{ isSuspended: false, made: null, moot: false },
  };
  const added: State = {
    ...s,
    counters: { ...s.counters, decision: s.counters.decision + 1 },
    decisions: [...s.decisions, asked],
  };
  if (origin === null) return added;
  if (origin.by === 'cell') return guestAsked(added, origin, id);
  return updateCall(added, origin.call, ({ part }) => ({
    part,
    state: 'running',
    on: { kind: 'decision', decision: id },
  }));
}

export function made(s: State, e: EventOf<'decision.made'>): State {
  const open = s.decisions.find(({ id, made: given }) => id === e.decision && !given);
  if (!open) return s;
  const { answer, text, by } = e;
  const decided = change(s, ({ id }) => id === e.decision, { made: { answer, text, by, at: e.at } });
  const { origin, id, question } = open;
  if (origin === null) return decided;
  if (origin.by === 'cell') return answerGuestDecision(decided, id, e);
  const said = `${by} answered: ${text}`;
  return open.isSuspended
    ? reportToSelf(decided, id, `Decision ${id} (${question}): ${said}`, e.at)
    : answerCall(decided, origin.call, { status: 'done', text: said });
}

export function mootDecisions(s: State, effect: EffectId): State {
  return withdrawQuestions(s, (decision) => decision.effect === effect);
}

/** Nobody waits for the answers to these any more. */
export function withdrawQuestions(s: State, which: (decision: Decision) => boolean): State {
  return change(s, (decision) => !decision.made && !decision.moot && which(decision), { moot: true });
}

function change(s: State, which: (decision: Decision) => boolean, changed: Partial<Decision>): State {
  if (!s.decisions.some(which)) return s;
  const decisions = s.decisions.map((decision) => (which(decision) ? { ...decision, ...changed } : decision));
  return { ...s, decisions };
}
