/**
 * Decisions: what only a person can say.
 *
 * D1  A decision is made once; the first answer in the log wins.
 * D2  A decision whose effect was settled by other evidence, or for whose answer nobody waits any more, is moot and can
 *     be made no more.
 * D3  What a person answers to a question of the work reaches whoever asked: the call, the promise in the guest, or
 *     the model, like a message.
 * D4  An approval opens the gate of the one effect that it is about. Rejected, or not answered in time, the effect is
 *     withdrawn, and whoever asked for it is told. So is whoever asked a question with an end, when nobody answered.
 */

import { approved, turnedDown } from './effect.ts';
import type { EventOf } from './event.ts';
import { answerGuestDecision, guestAsked } from './heap/evolve.ts';
import type { EffectId } from './ids.ts';
import { reportToSelf } from './inbox.ts';
import { type Decision, isOpen, type State } from './state.ts';
import { answerCall, runCall } from './turn.ts';

export function requested(s: State, e: EventOf<'decision.requested'>): State {
  const { kind: _, seq: __, at, decision: id, ...question } = e;
  const { effect, origin } = question;
  const attempt = s.effects.open.find((open) => open.id === effect)?.attempts ?? 0;
  const asked: Decision = {
    ...{ ...question, id, attempt, turn: s.turns, requestedAt: at },
    ...{ isSuspended: false, made: null, moot: false, expired: false },
  };
  const added: State = {
    ...s,
    counters: { ...s.counters, decision: s.counters.decision + 1 },
    decisions: [...s.decisions, asked],
  };
  if (origin === null) return added;
  if (origin.by === 'cell') return guestAsked(added, origin, id);
  return runCall(added, origin.call, { kind: 'decision', decision: id });
}

export function made(s: State, e: EventOf<'decision.made'>): State {
  const open = s.decisions.find(({ id, made: given }) => id === e.decision && !given);
  if (!open) return s;
  const { answer, text, by } = e;
  const decided = change(s, ({ id }) => id === e.decision, { made: { answer, text, by, at: e.at } });
  const { origin, id, question } = open;
  if (open.about === 'approval') return ruled(decided, open, e);
  if (origin === null) return decided;
  if (origin.by === 'cell') return answerGuestDecision(decided, id, e);
  const said = `${by} answered: ${text}`;
  return open.isSuspended
    ? reportToSelf(decided, id, `Decision ${id} (${question}): ${said}`, e.at)
    : answerCall(decided, origin.call, { status: 'done', text: said });
}

/** D4. */
function ruled(s: State, { effect }: Decision, e: EventOf<'decision.made'>): State {
  if (effect === null) return s;
  if (e.answer === 'approve') return approved(s, effect);
  const why = e.text === '' ? '' : `: ${e.text}`;
  return turnedDown(
    s,
    effect,
    { code: 'rejected', message: `It was not sent. ${e.by} rejected it${why}` },
    e,
  );
}

export function expired(s: State, e: EventOf<'decision.expired'>): State {
  const open = s.decisions.find((decision) => decision.id === e.decision && isOpen(decision));
  if (!open) return s;
  const { id, effect, origin, question } = open;
  const over = change(s, (decision) => decision.id === id, { expired: true });
  if (effect !== null) {
    const message = `It was not sent. Nobody approved it in time (${id})`;
    return turnedDown(over, effect, { code: 'approval.expired', message }, e);
  }
  if (origin === null) return over;
  if (origin.by === 'cell') return answerGuestDecision(over, id, e);
  const text = 'Nobody answered in time [question.expired]';
  return open.isSuspended
    ? reportToSelf(over, id, `Decision ${id} (${question}): ${text}`, e.at)
    : answerCall(over, origin.call, { status: 'failed', text });
}

export function mootDecisions(s: State, effect: EffectId): State {
  return withdrawQuestions(s, (decision) => decision.effect === effect);
}

/** Nobody waits for the answers to these any more. */
export function withdrawQuestions(s: State, which: (decision: Decision) => boolean): State {
  return change(s, (decision) => isOpen(decision) && which(decision), { moot: true });
}

function change(s: State, which: (decision: Decision) => boolean, changed: Partial<Decision>): State {
  if (!s.decisions.some(which)) return s;
  const decisions = s.decisions.map((decision) => (which(decision) ? { ...decision, ...changed } : decision));
  return { ...s, decisions };
}
