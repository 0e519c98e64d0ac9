/**
 * Effects: intention, dispatch mark, settlement, and what reconciliation finds. This slice is the ledger.
 *
 * G1  An effect without a dispatch mark was never sent.
 * G2  An effect is closed once, as done, failed, withdrawn or, in a fork, left; `unknown` is never closed. Evidence that
 *     comes later still corrects what was believed, and the model hears of it; of one that was left it says nothing.
 * G3  Whoever asked (a call of the model, a promise in the guest) is answered by the closing and by nothing else.
 * G4  An effect whose policy asks is sent only once a person has approved it, and one that is withdrawn needs no
 *     approval any more.
 */

import { charged } from './budget/evolve.ts';
import { type Evidence, type Outcome, writes } from './capability.ts';
import { mootDecisions } from './decision.ts';
import type { EventOf, Stamp } from './event.ts';
import { arriving, isOrder, stoppedByHand } from './family/evolve.ts';
import { answerGuest } from './heap/evolve.ts';
import type { EffectId } from './ids.ts';
import { reportToSelf } from './inbox.ts';
import { progressed } from './lifetime.ts';
import type { CallResult } from './message.ts';
import type { Verdict } from './policy.ts';
import { type Effect, findEffect, type Gate, type State } from './state.ts';
import { answerCall, isOpenCall, note, runCall } from './turn.ts';

type Closing = Exclude<Outcome, { status: 'unknown' }>;

/** The tool that reads this session's own log; the runtime answers it. */
export const RECALL = 'recall';

const GATES: Readonly<Record<Verdict, Gate>> = { allow: 'open', ask: 'asks', deny: 'shut' };

/** What is known of an effect that nobody has sent yet. */
const UNSENT = {
  ...{ status: 'intended', dispatch: null, firstDispatchAt: null, attempts: 0, failures: 0, notBefore: 0 },
  ...{ doubtSince: null, answer: null, unknownSince: null, unknownReason: null, isSuspended: false },
  ...{
    queries: 0,
    strays: [],
    late: null,
    outcome: null,
    settledSeq: null,
    outcomeSeq: null,
    evidence: null,
  },
} as const satisfies Partial<Effect>;

export function intended(s: State, e: EventOf<'effect.intended'>): State {
  const { kind: _, seq: __, at, effect: id, ...action } = e;
  const effect: Effect = { ...UNSENT, ...action, id, gate: GATES[action.policy.verdict], intendedAt: at };
  const added: State = {
    ...s,
    counters: { ...s.counters, effect: s.counters.effect + 1 },
    effects: { ...s.effects, open: [...s.effects.open, effect] },
  };
  if (e.origin.by === 'call') {
    return runCall(added, e.origin.call, { kind: 'effect', effect: e.effect });
  }
  const { cell, guestCall } = e.origin;
  const pending = { guestCall, cell, on: 'effect' as const, effect: e.effect, answer: null };
  return { ...added, heap: { ...added.heap, pending: [...added.heap.pending, pending] } };
}

export function refused(s: State, e: EventOf<'effect.refused'>): State {
  const open = s.effects.open.find((effect) => effect.id === e.effect);
  if (!open) return s;
  return withdraw(s, open, e, e);
}

/** G4. What was withdrawn meanwhile stays so. */
export const approved = (s: State, id: EffectId): State =>
  change(s, id, (effect) => ({ ...effect, gate: effect.gate === 'asks' ? 'approved' : effect.gate }));

/** It is not sent, for what a person decided or did not decide in time. */
export function turnedDown(s: State, id: EffectId, why: Reason, e: Stamp): State {
  const open = s.effects.open.find((effect) => effect.id === id && effect.status === 'intended');
  return open ? withdraw(s, open, why, e) : s;
}

export function dispatched(s: State, e: EventOf<'effect.dispatched'>): State {
  return change(s, e.effect, (effect) => ({
    ...effect,
    status: 'dispatched',
    dispatch: { attempt: e.attempt, epoch: e.epoch, at: e.at },
    firstDispatchAt: effect.firstDispatchAt ?? e.at,
    attempts: e.attempt,
    doubtSince: mayStandBeside(effect) ? (effect.unknownSince ?? s.lifetime.acquiredAt) : null,
    unknownSince: null,
    unknownReason: null,
  }));
}

/** Whether a sending before this one may still stand, where the extra can be undone. */
const mayStandBeside = ({ capability, status }: Effect): boolean =>
  capability.kind === 'cancelable' && status !== 'intended';

export function settled(before: State, e: EventOf<'effect.settled'>): State {
  const s = timed(before, e);
  const { outcome } = e;
  if (outcome.status !== 'unknown') {
    const isDoubtful = s.effects.open.some(({ id, doubtSince }) => id === e.effect && doubtSince !== null);
    if (!isDoubtful) return close(progressed(s), e.effect, outcome, null, e);
    return change(progressed(s), e.effect, (effect) => ({
      ...effect,
      status: 'unknown',
      answer: outcome,
      unknownSince: e.at,
      unknownReason: 'it was sent again and answered; whether the first one stands too is looked at',
    }));
  }
  return change(s, e.effect, (effect) => ({
    ...effect,
    status: 'unknown',
    unknownSince: e.at,
    unknownReason: outcome.reason,
    failures: effect.failures + 1,
    notBefore: e.at + retryDelay(effect.attempts),
  }));
}

/** The time that it took, while it was waited for. */
function timed(s: State, e: EventOf<'effect.settled'>): State {
  const { dispatch, status } = s.effects.open.find(({ id }) => id === e.effect) ?? { dispatch: null };
  const isLive = status === 'dispatched' && dispatch?.epoch === s.lifetime.epoch;
  return isLive && e.at > dispatch.at ? charged(s, { ms: e.at - dispatch.at }) : s;
}

export function reconciled(s: State, e: EventOf<'effect.reconciled'>): State {
  const { finding } = e;
  const evidence = { by: e.evidence, note: e.note };
  switch (finding.status) {
    case 'absent':
      return mootDecisions(
        change(progressed(s), e.effect, (effect) => ({
          ...effect,
          ...{ status: 'intended', evidence, doubtSince: null, answer: null, late: null },
          // Nothing of it stands: its key is new to the service when it is sent again.
          firstDispatchAt: null,
        })),
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

type Evident = Pick<EventOf<'evidence.received'>, 'effect' | 'attempt' | 'outcome'>;

/** Whether this says something about the effect that the ledger does not know. */
export function isNews(s: State, { effect: id, attempt, outcome }: Evident): boolean {
  if (outcome.status === 'unknown') return false;
  const effect = findEffect(s, id);
  if (!effect || effect.status === 'left' || effect.strays.includes(attempt)) return false;
  const isOpen = effect.outcome === null;
  if (isOpen && attempt === effect.attempts) {
    const isAwaited = effect.status === 'dispatched' || effect.status === 'unknown';
    return effect.late === null && effect.answer === null && (isAwaited || outcome.status === 'done');
  }
  if (outcome.status !== 'done') return false;
  // Sent again only because nothing had arrived, as a service or a person said.
  const wasBelievedAbsent = effect.capability.kind === 'queryable' || effect.capability.kind === 'blind';
  return attempt < effect.attempts ? wasBelievedAbsent : effect.status !== 'done';
}

export function evidenceReceived(s: State, e: EventOf<'evidence.received'>): State {
  const { outcome } = e;
  const effect = findEffect(s, e.effect);
  if (!effect || effect.status === 'left' || outcome.status === 'unknown') return s;
  const isOpen = effect.outcome === null;
  if (isOpen && e.attempt === effect.attempts) {
    // Found absent, and not sent again yet: then it is not.
    const back = { status: 'unknown' as const, unknownSince: e.at, unknownReason: 'an answer came late' };
    const isWaiting = effect.status === 'intended';
    return change(s, e.effect, (open) => ({ ...open, ...(isWaiting ? back : {}), late: outcome }));
  }
  if (outcome.status !== 'done') return s;
  const strays = [...effect.strays, e.attempt];
  const evidence = { by: 'late' as const, note: `sending ${e.attempt} was answered late: it had happened` };
  const isTwice = e.attempt < effect.attempts;
  const outcomeSeq = e.seq;
  const corrected: Partial<Effect> = isTwice
    ? { strays, evidence, outcomeSeq }
    : { strays, evidence, outcomeSeq, status: 'done', outcome };
  const what = isTwice
    ? `was sent ${effect.attempts} times because nothing seemed to have arrived. A late answer says that sending ${e.attempt} did: it may stand more than once.`
    : `did happen after all: a late answer says so. ${JSON.stringify(outcome.result)}`;
  const update = (one: Effect): Effect => (one.id === e.effect ? { ...one, ...corrected } : one);
  const effects = { open: s.effects.open.map(update), closed: s.effects.closed.map(update) };
  return reportToSelf({ ...s, effects }, e.effect, `Effect ${e.effect} (${effect.target}) ${what}`, e.at);
}

/** Takes back what was intended and never sent, and answers whoever waits for it. */
export function withdrawUnsent(s: State, which: (effect: Effect) => boolean, why: string, e: Stamp): State {
  const unsent = s.effects.open.filter((effect) => effect.status === 'intended' && which(effect));
  const reason: Reason = { code: WITHDRAWN, message: `Not sent: ${why}.` };
  return unsent.reduce((state, effect) => withdraw(state, effect, reason, e), s);
}

/** Closes whatever is open: it goes on in the original, and nothing that comes of it is known here. */
export function leaveOpen(s: State, e: Stamp): State {
  return s.effects.open.reduce((state, effect) => {
    const message =
      effect.dispatch === null
        ? 'It stays with the original of this fork, which had not sent it by then; it is not sent from here.'
        : 'It was sent by the original of this fork; what came of it is known there and not here.';
    const outcome: Closing = { status: 'failed', code: LEFT, message };
    const closed: Effect = { ...effect, status: 'left', outcome, settledSeq: e.seq, outcomeSeq: e.seq };
    const moved = move(state, closed);
    return effect.origin.by === 'cell'
      ? answerGuest(moved, closed, e)
      : answerCall(moved, effect.origin.call, resultOf(closed));
  }, s);
}

/** What a promise of the guest rejects with when its answer goes to the original. */
export const LEFT = 'left_with_original';

/**
 * What stands outside of what `which` names, for a result that comes before the end: writes that are done, and requests
 * that have left. Empty when there is nothing; without it the model would do it again.
 */
export function doneOutside(s: State, which: (effect: Effect) => boolean): string {
  const lines = [...s.effects.closed, ...s.effects.open].flatMap((effect) => {
    const { id, target, status, dispatch, capability } = effect;
    if (!which(effect) || dispatch === null) return [];
    if (status === 'left') return [`${id} (${target}) left with the original`];
    if (status === 'dispatched' || status === 'unknown') return [`${id} (${target}) outcome unknown so far`];
    return status === 'done' && writes(capability) ? [`${id} (${target}) done`] : [];
  });
  return lines.length === 0 ? '' : `What it did outside stands: ${lines.join('; ')}.`;
}

/** The settlement in words, for a model; rendered from the ledger and from nothing else. */
export function resultOf(effect: Effect): CallResult {
  const { outcome } = effect;
  if (!outcome) return { status: 'unknown', text: `The outcome of ${effect.id} is unknown.` };
  const text = outcomeInWords(outcome);
  const how = effect.evidence ? ` (${effect.evidence.note})` : '';
  if (effect.status !== 'left') return { status: outcome.status, text: text + how };
  return { status: effect.dispatch === null ? 'interrupted' : 'unknown', text };
}

/** An outcome as people, models and `recall` read it. Text stands as it is, line by line; anything else as JSON. */
export function outcomeInWords(outcome: Closing): string {
  if (outcome.status === 'failed') return `${outcome.message} [${outcome.code}]`;
  return typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result);
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
    outcomeSeq: e.seq,
    unknownSince: null,
    evidence: evidence ?? open.evidence,
  };
  return mootDecisions(answer(move(s, closed), closed, e), id);
}

interface Reason {
  readonly code: string;
  readonly message: string;
}

/** The code of what was taken back, by an end that everybody knows of. */
const WITHDRAWN = 'withdrawn';

function withdraw(s: State, open: Effect, { code, message }: Reason, e: Stamp): State {
  const outcome: Closing = { status: 'failed', code, message };
  const withdrawn: Effect = {
    ...open,
    ...{ status: 'withdrawn', outcome, settledSeq: e.seq, outcomeSeq: e.seq },
  };
  return mootDecisions(answer(move(s, withdrawn), withdrawn, e), open.id);
}

/** Whether somebody waits for its answer: a call of the open turn, or a promise in the guest. */
export function isAwaited(s: State, { id, origin }: Effect): boolean {
  if (origin.by === 'call') return isOpenCall(s, origin.call);
  return s.heap.pending.some((call) => call.on === 'effect' && call.effect === id);
}

function answer(s: State, effect: Effect, e: Stamp): State {
  // That its child stands is no answer yet: that is what comes of it.
  if (isOrder(effect) && effect.status === 'done') return arriving(s, effect.id);
  if (effect.family === 'stops' && effect.status === 'done')
    return answered(stoppedByHand(s, effect), effect, e);
  return answered(s, effect, e);
}

function answered(s: State, effect: Effect, e: Stamp): State {
  const { origin } = effect;
  if (origin.by === 'cell') {
    // Its cell is gone: of a write the model must hear, a read is of no use to anybody.
    if (isAwaited(s, effect) || !writes(effect.capability)) return answerGuest(s, effect, e);
  } else if (isAwaited(s, effect)) {
    const whole = effect.status === 'withdrawn' ? {} : { whole: { seq: e.seq, from: 0 } };
    return answerCall(s, origin.call, { ...resultOf(effect), ...whole });
  }
  const result = resultOf(effect);
  if (effect.status === 'withdrawn') {
    // Only whoever was told that it waits has to hear that it waits no more.
    const news = `Effect ${effect.id} (${effect.target}) waits no more. ${result.text}`;
    if (!effect.isSuspended) return s;
    const isKnown = effect.outcome?.status === 'failed' && effect.outcome.code === WITHDRAWN;
    return isKnown ? note(s, news, e.at) : reportToSelf(s, effect.id, news, e.at);
  }
  const news = `Effect ${effect.id} (${effect.target}) is settled now: ${result.status}. `;
  const text = news + result.text;
  const whole = { seq: e.seq, from: news.length };
  // The turn that asked went on without it, or was interrupted: then the model learns of it when it next reads.
  return effect.isSuspended ? reportToSelf(s, effect.id, text, e.at, whole) : note(s, text, e.at, whole);
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
