/**
 * Effects: intention, dispatch mark, settlement, and what reconciliation finds. This slice is the ledger.
 *
 * G1  An effect without a dispatch mark was never sent.
 * G2  An effect is closed once, as done, failed or withdrawn; `unknown` is never closed.
 * G3  Whoever asked (a call of the model, a promise in the guest) is answered by the closing and by nothing else.
 */

import { type Evidence, type Outcome, writes } from '../capability.ts';
import type { EventOf, Stamp } from '../event.ts';
import type { EffectId } from '../ids.ts';
import type { CallResult } from '../message.ts';
import type { Effect, State } from '../state.ts';
import { mootDecisions } from './decision.ts';
import { answerGuest } from './heap.ts';
import { reportToSelf } from './inbox.ts';
import { progressed } from './lifetime.ts';
import { answerCall, isOpenCall, note, updateCall } from './turn.ts';

type Closing = Exclude<Outcome, { status: 'unknown' }>;

export function intended(s: State, e: EventOf<'effect.intended'>): State {
  const effect: Effect = {
    id: e.effect,
    origin: e.origin,
    tool: e.tool,
    capability: e.capability,
    target: e.target,
    identity: e.identity,
    args: e.args,
    digest: e.digest,
    status: 'intended',
    intendedAt: e.at,
    dispatch: null,
    firstDispatchAt: null,
    attempts: 0,
    failures: 0,
    notBefore: 0,
    unknownSince: null,
    unknownReason: null,
    isSuspended: false,
    queries: 0,
    late: null,
    outcome: null,
    settledSeq: null,
    evidence: null,
  };
  const added: State = {
    ...s,
    counters: { ...s.counters, effect: s.counters.effect + 1 },
    effects: { ...s.effects, open: [...s.effects.open, effect] },
  };
  if (e.origin.by === 'call') {
    return updateCall(added, e.origin.call, ({ part }) => ({
      part,
      state: 'running',
      effect: e.effect,
      cell: null,
    }));
  }
  const { cell, guestCall } = e.origin;
  const pending = { guestCall, cell, on: 'effect' as const, effect: e.effect, answer: null };
  return { ...added, heap: { ...added.heap, pending: [...added.heap.pending, pending] } };
}

export function refused(s: State, e: EventOf<'effect.refused'>): State {
  const open = s.effects.open.find((effect) => effect.id === e.effect);
  if (!open) return s;
  const outcome: Closing = { status: 'failed', code: e.code, message: e.message };
  const closed: Effect = { ...open, status: 'withdrawn', outcome, settledSeq: e.seq };
  return answer(move(s, closed), closed, e);
}

export function dispatched(s: State, e: EventOf<'effect.dispatched'>): State {
  return change(s, e.effect, (effect) => ({
    ...effect,
    status: 'dispatched',
    dispatch: { attempt: e.attempt, epoch: e.epoch, at: e.at },
    firstDispatchAt: effect.firstDispatchAt ?? e.at,
    attempts: e.attempt,
    unknownSince: null,
    unknownReason: null,
  }));
}

export function settled(s: State, e: EventOf<'effect.settled'>): State {
  const { outcome } = e;
  if (outcome.status !== 'unknown') return close(progressed(s), e.effect, outcome, null, e);
  return change(s, e.effect, (effect) => ({
    ...effect,
    status: 'unknown',
    unknownSince: e.at,
    unknownReason: outcome.reason,
    failures: effect.failures + 1,
    notBefore: e.at + retryDelay(effect.attempts),
  }));
}

export function reconciled(s: State, e: EventOf<'effect.reconciled'>): State {
  const { finding } = e;
  const evidence = { by: e.evidence, note: e.note };
  switch (finding.status) {
    case 'absent':
      return mootDecisions(
        change(progressed(s), e.effect, (effect) => ({ ...effect, status: 'intended', evidence })),
        e.effect,
      );
    case 'unclear':
      return change(s, e.effect, (effect) => ({
        ...effect,
        status: 'unknown',
        unknownSince: effect.unknownSince ?? e.at,
        unknownReason: effect.unknownReason ?? finding.reason,
        queries: effect.queries + 1,
        notBefore: e.at + retryDelay(effect.queries + 1),
      }));
    default:
      return close(progressed(s), e.effect, finding, evidence, e);
  }
}

export function evidenceReceived(s: State, e: EventOf<'evidence.received'>): State {
  const { outcome } = e;
  if (outcome.status === 'unknown') return s;
  return change(s, e.effect, (effect) => ({ ...effect, late: outcome }));
}

/** Takes back what was intended and never sent, and answers whoever waits for it. */
export function withdrawUnsent(s: State, which: (effect: Effect) => boolean, why: string, e: Stamp): State {
  const unsent = s.effects.open.filter((effect) => effect.status === 'intended' && which(effect));
  return unsent.reduce((state, effect) => {
    const outcome: Closing = { status: 'failed', code: 'withdrawn', message: `Not sent: ${why}.` };
    const withdrawn: Effect = { ...effect, status: 'withdrawn', outcome, settledSeq: e.seq };
    return answer(move(state, withdrawn), withdrawn, e);
  }, s);
}

/**
 * What stands outside of what `which` names, for a result that comes before the end: writes that are done, and requests
 * that have left. Empty when there is nothing; without it the model would do it again.
 */
export function doneOutside(s: State, which: (effect: Effect) => boolean): string {
  const lines = [...s.effects.closed, ...s.effects.open].flatMap((effect) => {
    const { id, target, status, dispatch, capability } = effect;
    if (!which(effect) || dispatch === null) return [];
    if (status === 'dispatched' || status === 'unknown') return [`${id} (${target}) outcome unknown so far`];
    return status === 'done' && writes(capability) ? [`${id} (${target}) done`] : [];
  });
  return lines.length === 0 ? '' : `What it did outside stands: ${lines.join('; ')}.`;
}

/** The settlement in words, for a model; rendered from the ledger and from nothing else. */
export function resultOf(effect: Effect): CallResult {
  const { outcome } = effect;
  if (!outcome) return { status: 'unknown', text: `The outcome of ${effect.id} is unknown.` };
  const how = effect.evidence ? ` (${effect.evidence.note})` : '';
  if (outcome.status === 'done') return { status: 'done', text: `${JSON.stringify(outcome.result)}${how}` };
  return { status: 'failed', text: `${outcome.message} [${outcome.code}]${how}` };
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

function close(
  s: State,
  id: EffectId,
  outcome: Closing,
  evidence: { by: Evidence; note: string } | null,
  e: Stamp,
): State {
  const open = s.effects.open.find((effect) => effect.id === id);
  if (!open) return s;
  const closed: Effect = {
    ...open,
    status: outcome.status,
    outcome,
    settledSeq: e.seq,
    unknownSince: null,
    evidence: evidence ?? open.evidence,
  };
  return mootDecisions(answer(move(s, closed), closed, e), id);
}

function answer(s: State, effect: Effect, e: Stamp): State {
  if (effect.origin.by === 'cell') {
    const isAwaited = s.heap.pending.some((call) => call.on === 'effect' && call.effect === effect.id);
    // Its cell is gone: of a write the model must hear, a read is of no use to anybody.
    if (isAwaited || !writes(effect.capability)) return answerGuest(s, effect, e);
  } else if (isOpenCall(s, effect.origin.call)) {
    return answerCall(s, effect.origin.call, resultOf(effect));
  }
  const result = resultOf(effect);
  if (effect.status === 'withdrawn') {
    // Only whoever was told that it waits has to hear that it waits no more.
    const news = `Effect ${effect.id} (${effect.target}) waits no more. ${result.text}`;
    return effect.isSuspended ? note(s, news, e.at) : s;
  }
  const text = `Effect ${effect.id} (${effect.target}) is settled now: ${result.status}. ${result.text}`;
  // The turn that asked went on without it, or was interrupted: then the model learns of it when it next reads.
  return effect.isSuspended ? reportToSelf(s, effect.id, text, e.at) : note(s, text, e.at);
}

function change(s: State, id: EffectId, update: (effect: Effect) => Effect): State {
  const open = s.effects.open.map((effect) => (effect.id === id ? update(effect) : effect));
  return { ...s, effects: { ...s.effects, open } };
}

function move(s: State, closed: Effect): State {
  return {
    ...s,
    effects: {
      open: s.effects.open.filter((effect) => effect.id !== closed.id),
      closed: [...s.effects.closed, closed],
    },
  };
}

const retryDelay = (attempts: number): number => Math.min(30_000, 250 * 2 ** Math.max(0, attempts - 1));
