/**
 * What to do about an effect whose outcome is unknown: by capability, never by guess.
 *
 * R1  A read runs again. A keyed write is repeated under the same key, inside the time that the service keeps it.
 * R2  A queryable write waits until nothing can arrive any more, is looked for, and is sent once if it is absent.
 * R3  A cancelable write is sent again at once, once. What stands is looked at when nothing can arrive any more, and
 *     extras are undone; only then is it closed.
 * R4  Everything else is one question to a person.
 */

import { unreachable } from '../lib/assert.ts';
import type { EventBody } from './event.ts';
import type { Decision, Effect, State } from './state.ts';

export type Resolution =
  | { readonly do: 'redispatch' }
  | { readonly do: 'query' | 'audit'; readonly n: number }
  | { readonly do: 'wait'; readonly until: number }
  | { readonly do: 'conclude'; readonly event: EventBody }
  | { readonly do: 'ask' }
  /** A person has been asked. */
  | { readonly do: 'rest' };

/** Clear failures of a service before a person is asked instead. */
const PATIENCE = 6;

export function resolve(state: State, effect: Effect, now: number): Resolution {
  const { late } = effect;
  if (late?.status === 'absent')
    return conclude(effect, late, 'unsent', 'the worker that was to send it says that it never left');
  if (late && effect.doubtSince === null)
    return conclude(effect, late, 'late', 'a worker that had lost the session handed its result in');
  const decision = state.decisions.findLast(
    (d) => d.about === 'unknown' && d.effect === effect.id && d.attempt === effect.attempts,
  );
  if (decision?.made) return answered(effect, decision);
  if (decision && !decision.moot) return { do: 'rest' };
  if (effect.notBefore > now) return { do: 'wait', until: effect.notBefore };

  const { capability } = effect;
  switch (capability.kind) {
    case 'read':
      return effect.failures < state.contract.limits.readAttempts
        ? { do: 'redispatch' }
        : conclude(
            effect,
            { status: 'failed', code: 'no_answer', message: `No answer: ${effect.unknownReason ?? 'lost'}.` },
            'gave-up',
            `after ${effect.failures} attempts`,
          );
    case 'keyed': {
      const kept = (effect.firstDispatchAt ?? now) + capability.retentionMs;
      return now < kept && effect.failures < PATIENCE ? { do: 'redispatch' } : { do: 'ask' };
    }
    case 'queryable': {
      // From the takeover, not from the mark: a frozen holder may have sent long after its mark.
      const since = effect.unknownSince ?? state.lifetime.acquiredAt;
      const quiet = since + capability.lateMs;
      if (now < quiet) return { do: 'wait', until: quiet };
      return effect.queries < PATIENCE ? { do: 'query', n: effect.queries + 1 } : { do: 'ask' };
    }
    case 'cancelable': {
      if (effect.doubtSince === null) return { do: 'redispatch' };
      const since = effect.answer ? effect.doubtSince : (effect.unknownSince ?? state.lifetime.acquiredAt);
      const quiet = since + capability.lateMs;
      if (now < quiet) return { do: 'wait', until: quiet };
      return effect.queries < PATIENCE ? { do: 'audit', n: effect.queries + 1 } : { do: 'ask' };
    }
    case 'blind':
      return { do: 'ask' };
    default:
      return unreachable(capability);
  }
}

export const whyUnknown = (effect: Effect): string =>
  effect.unknownReason ?? 'the worker was lost after it was sent, before an answer was saved';

/** Why the outcome is unknown, for the person who has to say. */
export function question(effect: Effect): string {
  const reason = whyUnknown(effect);
  return (
    `Did ${effect.id} happen? ${effect.tool} to ${effect.target} with ${JSON.stringify(effect.args)}: ${reason}. ` +
    'done = it happened; not-done = it did not, send it now; reject = it did not, and do not send it.'
  );
}

function answered(effect: Effect, decision: Decision): Resolution {
  const { made } = decision;
  const said = `${made?.by ?? 'a person'} said so${made?.text ? `: ${made.text}` : ''}`;
  switch (made?.answer) {
    case 'done':
      return conclude(
        effect,
        { status: 'done', result: { confirmedBy: made.by, text: made.text } },
        'person',
        said,
      );
    case 'not-done':
      return conclude(effect, { status: 'absent' }, 'person', said);
    default:
      return conclude(
        effect,
        { status: 'failed', code: 'rejected', message: 'It did not happen, and a person does not want it' },
        'person',
        said,
      );
  }
}

function conclude(
  effect: Effect,
  finding: Extract<EventBody, { kind: 'effect.reconciled' }>['finding'],
  evidence: Extract<EventBody, { kind: 'effect.reconciled' }>['evidence'],
  note: string,
): Resolution {
  return {
    do: 'conclude',
    event: { kind: 'effect.reconciled', effect: effect.id, finding, evidence, note },
  };
}
