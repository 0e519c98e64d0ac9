/**
 * Children in the fold, seen from both ends.
 *
 * N1  Each instruction has one result, by its message: the call that waits for it is answered with it, or else it comes
 *     like a message. A result is taken once, whatever is told again (`ChildResult.seq`).
 * N2  What is due to the parent stays due until `parent.told` says that it has it.
 *     It may come before its instruction is written down as sent: then the call is answered by where it stands.
 * N3  Whatever ends an instruction is a result: also that the child was stopped, or that nobody can drive it.
 */

import { NOTHING_SPENT } from '../budget/budget.ts';
import { isConversation, nounOf } from '../conversation/state.ts';
import type { Event, EventOf, ForeignEvent } from '../event.ts';
import type { CallId, EffectId, MessageId } from '../ids.ts';
import { reportToSelf } from '../inbox.ts';
import type { CallResult } from '../message.ts';
import { noticeKey } from '../residency/notice.ts';
import { callsOf, type Effect, findEffect, type State } from '../state.ts';
import { answerCall, isOpenCall, note, runCall } from '../turn.ts';
import type { ChildNotice, ChildResult, ResultEnd, Standing } from './event.ts';
import { type Child, cutOff, type Family, isAtWork, reaching, type Told } from './state.ts';
import { toldByChild, toldOfGone, toldOfNotices, toldOfQuestions } from './words.ts';

// ── of a parent ────────────────────────────────────────────────────────────────────────────────────────────

export function spawned(s: State, e: EventOf<'child.spawned'>): State {
  const { effect, child: id, title, at } = e;
  const args = findEffect(s, effect)?.args;
  const child: Child = {
    ...{ id, effect, title, spawnedAt: at, spawnedSeq: e.seq, since: at },
    ...{ share: shareIn(args), asked: [], unasked: [], turn: s.turns },
    ...{ spentBefore: NOTHING_SPENT, last: null, lastSeq: 0, standing: null, relayed: 'open' },
  };
  const early = s.family.early.filter((told) => told.child === id);
  const known = having(arrived(s, effect), {
    children: [...s.family.children, child],
    early: s.family.early.filter((told) => told.child !== id),
  });
  const asked = waiting(known, e);
  return early.reduce((state, told) => took(state, told, e.at), asked);
}

export function instructed(s: State, e: EventOf<'child.instructed'>): State {
  const known = having(arrived(s, e.effect), {
    children: s.family.children.map((child) =>
      child.id === e.child
        ? {
            ...child,
            ...{
              turn: s.turns,
              spentBefore: child.standing?.spent ?? NOTHING_SPENT,
              relayed: 'open' as const,
              since: isAtWork(child) ? child.since : e.at,
            },
            share: reaching(child.standing?.spent, shareIn(findEffect(s, e.effect)?.args)),
          }
        : child,
    ),
  });
  return waiting(known, e);
}

/** N1. Of a child that is not known yet it is kept until it is. */
export function reported(s: State, e: EventOf<'child.reported'>): State {
  const { child, result, standing } = e;
  if (s.family.children.some(({ id }) => id === child)) return took(s, { child, result, standing }, e.at);
  return having(s, { early: [...s.family.early, { child, result, standing }] });
}

export function relayed(s: State, { effect, status }: EventOf<'child.relayed'>): State {
  const isKnown = s.family.children.some((child) => child.effect === effect);
  if (!isKnown) return having(s, { barred: [...s.family.barred, effect] });
  return having(s, {
    children: s.family.children.map((child) =>
      child.effect === effect ? { ...child, relayed: status } : child,
    ),
  });
}

export const counted = (s: State, { child }: EventOf<'descendant.counted'>): State =>
  having(s, { descendants: [...s.family.descendants, child] });

/** What a fork of this session says to calls that wait for a child: it stays with the original. */
export function leaveChildren(s: State): State {
  return callsOf(s).reduce((state, call) => {
    if (call.state !== 'running' || call.on.kind !== 'child') return state;
    const text = `${call.on.child} stays with the original of this fork; what comes of it is not known here.`;
    return answerCall(state, call.part.call, { status: 'interrupted', text });
  }, s);
}

/** Whether what comes of it is what a child does. */
export const isOrder = ({ family }: Effect): boolean => family === 'spawns' || family === 'instructs';

/** The child of this effect stands; `next` says so with an event of its own. */
export const arriving = (s: State, effect: EffectId): State =>
  having(s, { arriving: [...s.family.arriving, effect] });

/** One that its parent has stopped goes on with the next instruction. */
export const stoppedByHand = (s: State, { target }: Effect): State =>
  having(s, {
    children: s.family.children.map((child) =>
      child.id === target ? { ...child, relayed: 'stopped' } : child,
    ),
  });

/** The order has left; that it was done may be told before the order is settled. */
const isBeingStopped = (s: State, { id }: Child): boolean =>
  s.effects.open.some(
    ({ family, target, dispatch }) => family === 'stops' && target === id && dispatch !== null,
  );

/** What of this report is not known; null when all of it is. */
export function newsOf({ family }: State, told: Told): Told | null {
  const { child: id, result, standing } = told;
  const child = family.children.find((one) => one.id === id);
  if (child) {
    const isNewStanding = isNewer(child, standing) && !isSame(child.standing, standing);
    if (isNewResult(child, result)) return told;
    return isNewStanding ? { ...told, result: null } : null;
  }
  const early = family.early.filter((one) => one.child === id);
  const isKnown = result === null || early.some((one) => one.result?.seq === result.seq);
  const last = early.at(-1)?.standing ?? null;
  if (!isKnown) return told;
  return last !== null && isSame(last, standing) ? null : { ...told, result: null };
}

const isSame = (before: Standing | null, { asOf: _, ...now }: Standing): boolean => {
  if (before === null) return false;
  const { asOf: __, ...was } = before;
  return JSON.stringify(was) === JSON.stringify(now);
};

// ── of a child ─────────────────────────────────────────────────────────────────────────────────────────────

export function parentTold(s: State, { result, standing }: EventOf<'parent.told'>): State {
  return having(s, { told: { result, standing }, due: s.family.due.filter(({ seq }) => seq > result) });
}

/** N3. What this event, folded into `after`, brings for the parent; `before` it the turn may still have been open. */
export function withDue(after: State, before: State, e: Event | ForeignEvent): State {
  if (after.family.parent === null) return after;
  const result = resultOf(before, e);
  return result === null ? after : having(after, { due: [...after.family.due, result] });
}

function resultOf(before: State, e: Event | ForeignEvent): ChildResult | null {
  const { turn } = before;
  const { parent } = before.family;
  const of = (end: ResultEnd, text: string, claims: ChildResult['claims'] = []): ChildResult => ({
    ...{ seq: e.seq, turn: turn?.number ?? before.turns, end, text, claims },
    ...{ answers: turn?.answers ?? [], partial: cutOff(before).map(({ title }) => title) },
  });
  switch (e.kind) {
    case 'response.surfaced':
      return of('surfaced', e.text, e.claims);
    case 'turn.failed':
      return of('failed', e.reason, e.claims);
    case 'turn.interrupted':
      return turn?.number === e.turn ? of('interrupted', `${e.by} interrupted it.`) : null;
    case 'session.stopped':
      return {
        ...of('stopped', 'It was stopped.'),
        ...(before.lifetime.stoppedBy === parent?.session ? { ordered: true as const } : {}),
      };
    case 'session.quarantined':
      return of('quarantined', e.reason);
    case 'budget.exhausted':
      return turn?.number === e.turn ? of('budget', 'It has used up its budget, and rests.') : null;
    default:
      return null;
  }
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

const having = (s: State, change: Partial<Family>): State => ({ ...s, family: { ...s.family, ...change } });

const arrived = (s: State, effect: EffectId): State =>
  having(s, { arriving: s.family.arriving.filter((id) => id !== effect) });

/** The call that asked waits for what comes of it, or is answered by that it was asked. */
function waiting(s: State, e: EventOf<'child.spawned' | 'child.instructed'>): State {
  const origin = findEffect(s, e.effect)?.origin;
  const call = origin?.by === 'call' && isOpenCall(s, origin.call) ? origin.call : null;
  const { child: id, message, waits } = e;
  const before = s.family.children.find((child) => child.id === id);
  const early = before?.unasked.find((one) => one.message === message);
  if (early) return call === null ? s : answerCall(s, call, { status: 'done', text: reportedAt(early.seq) });
  const asked = having(s, {
    children: s.family.children.map((child) =>
      child.id === id ? { ...child, asked: [...child.asked, { message, call: waits ? call : null }] } : child,
    ),
  });
  if (call === null) return asked;
  if (!waits) return answerCall(asked, call, { status: 'done', text: begun(id) });
  return runCall(asked, call, { kind: 'child', child: id });
}

const begun = (id: string): string =>
  `${id} is at work on it. What comes of it is reported when it is there.`;

const reportedAt = (seq: number): string =>
  `It was answered before it stood here that it was asked: event #${seq} has what came of it.`;

/** Of these the last ones are known: an instruction that was sent is soon written down. */
const UNASKED = 32;

/** Ends after which nothing that was asked is worked on any more, read or not. */
const FOR_ALL: ReadonlySet<ResultEnd> = new Set(['stopped', 'quarantined', 'budget']);

function took(s: State, { child: id, result, standing }: Told, at: number): State {
  const child = s.family.children.find((one) => one.id === id);
  if (!child) return s;
  const now = isNewer(child, standing) ? standing : child.standing;
  // Somebody has opened it again: the next stop is passed on to it as well.
  const isBack = child.standing?.status === 'stopped' && now?.status !== 'stopped';
  const relayed = isBack ? 'open' : child.relayed;
  if (!isNewResult(child, result))
    return withNews(changed(s, id, { standing: now, relayed }), child, now, at);
  const isOf = ({ message }: { message: MessageId }): boolean =>
    FOR_ALL.has(result.end) || result.answers.includes(message);
  const answered = child.asked.filter(isOf);
  const asked = child.asked.filter((one) => !isOf(one));
  const since = asked.length > 0 ? child.since : at;
  const isAsked = new Set(answered.map(({ message }) => message));
  const others = result.answers.filter((message) => !isAsked.has(message));
  const seq = s.head + 1;
  const unasked = [...child.unasked, ...others.map((message) => ({ message, seq }))].slice(-UNASKED);
  const taken = changed(s, id, {
    ...{ standing: now, relayed, last: result, lastSeq: seq, asked, unasked, since },
  });
  const text = toldByChild({ ...child, noun: nounOf(s) }, result, seq);
  const isWaiting = (call: CallId | null): call is CallId => call !== null && isOpenCall(s, call);
  const calls = answered.map(({ call }) => call).filter(isWaiting);
  const status: CallResult['status'] = result.end === 'surfaced' ? 'done' : 'failed';
  const told = calls.reduce((state, call) => answerCall(state, call, { status, text }), taken);
  const isHeard = calls.length > 0 && calls.length === answered.length;
  // Stopped by its parent, and nobody waits: that is no news.
  const isOwnDoing = result.end === 'stopped' && (child.relayed === 'stopped' || isBeingStopped(s, child));
  const after = isHeard || isOwnDoing ? told : heard(told, `${id}:${result.seq}`, text, at);
  return withNews(after, child, now, at);
}

/** How it stands of a child that no call waits for; else the present alone shows it. */
function withNews(s: State, before: Child, now: Standing | null, at: number): State {
  if (before.asked.some(({ call }) => call !== null && isOpenCall(s, call))) return s;
  return withNotices(withQuestions(s, before, now, at), before, now, at);
}

/** A question comes like a message. */
function withQuestions(s: State, before: Child, now: Standing | null, at: number): State {
  const known = new Set(before.standing?.questions.map(keyOf));
  const news = (now?.questions ?? []).filter((question) => !known.has(keyOf(question)));
  if (news.length === 0) return s;
  return heard(
    s,
    `${before.id}:${news.map(keyOf).join()}`,
    toldOfQuestions({ ...before, noun: nounOf(s) }, news),
    at,
  );
}

/** A notice as well, to a conversation. Another parent need do nothing about it: it reads of it in its next turn. */
function withNotices(s: State, before: Child, now: Standing | null, at: number): State {
  const newIn = (known: readonly ChildNotice[] = [], all: readonly ChildNotice[] = []) => {
    const keys = new Set(known.map(keyOfNotice));
    return all.filter((one) => !keys.has(keyOfNotice(one)));
  };
  const notices = newIn(before.standing?.notices, now?.notices);
  const gone = newIn(before.standing?.gone, now?.gone);
  const child = { ...before, noun: nounOf(s) };
  const told = [
    ...(notices.length === 0 ? [] : [toldOfNotices(child, notices)]),
    ...(gone.length === 0 ? [] : [toldOfGone(child, gone)]),
  ].join('\n');
  if (told === '') return s;
  const keys = [...notices.map(keyOfNotice), ...gone.map((one) => `gone:${keyOfNotice(one)}`)];
  return isConversation(s) ? heard(s, `${before.id}:${keys.join()}`, told, at) : note(s, told, at);
}

const keyOfNotice = (one: ChildNotice): string => `${one.session}.${noticeKey(one)}`;

/** It begins a turn, but of a session that was stopped: that one reads it when it is opened again. */
function heard(s: State, of: string, text: string, at: number): State {
  const isOver = s.lifetime.status === 'stopping' || s.lifetime.status === 'stopped';
  return isOver ? note(s, text, at) : reportToSelf(s, of, text, at);
}

const keyOf = ({ session, decision }: Standing['questions'][number]): string => `${session}.${decision}`;

const changed = (s: State, id: Child['id'], change: Partial<Child>): State =>
  having(s, {
    children: s.family.children.map((child) => (child.id === id ? { ...child, ...change } : child)),
  });

const isNewResult = ({ last }: Child, result: ChildResult | null): result is ChildResult =>
  result !== null && result.seq > (last?.seq ?? 0);

const isNewer = ({ standing: before }: Child, standing: Standing): boolean =>
  before === null || standing.asOf > before.asOf;

function shareIn(args: unknown): Child['share'] {
  const share = (args as { share?: Child['share'] } | undefined)?.share;
  return share ?? {};
}
