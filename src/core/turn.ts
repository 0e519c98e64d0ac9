/**
 * Turns and steps: from an instruction to a surfaced response.
 *
 * T1  A step reads exactly the messages that stand before its `step.started`.
 * T2  Every call of a reply has exactly one result before the next step starts.
 * T3  A failed or interrupted turn ends the turn; everything the session holds stays.
 */

import { given } from '../lib/given.ts';
import { counted, NONE_FAILING } from './budget/breaker.ts';
import { NOTHING_SPENT } from './budget/budget.ts';
import { callLost, chargedCall, tryAgain } from './budget/evolve.ts';
import { counted as countedTokens, turnEnded } from './context/evolve.ts';
import type { TurnEnd } from './context/state.ts';
import { withdrawQuestions } from './decision.ts';
import { doneOutside, withdrawUnsent } from './effect.ts';
import type { EventOf, Stamp } from './event.ts';
import { nameOf } from './file.ts';
import { abortRunningCell, noted } from './heap/evolve.ts';
import type { CallId } from './ids.ts';
import { progressed } from './lifetime.ts';
import { told } from './loss.ts';
import type { CallResult, Part, ToolCallPart, Whole } from './message.ts';
import { type Call, callsOf, type Item, type Running, type State, type Step } from './state.ts';
import { driftTold } from './workspace/evolve.ts';

type Acting = Extract<Step, { phase: 'acting' }>;

export function started(s: State, e: EventOf<'turn.started'>): State {
  return {
    ...s,
    turns: e.turn,
    workspace: { ...s.workspace, atTurn: s.workspace.tree },
    turn: {
      number: e.turn,
      startedAt: e.at,
      answers: [],
      steps: 0,
      spent: NOTHING_SPENT,
      failing: NONE_FAILING,
      step: { phase: 'starting' },
    },
  };
}

export function stepStarted(s: State, e: EventOf<'step.started'>): State {
  if (!s.turn) return s;
  const { step: before } = s.turn;
  const settled = before.phase === 'acting' ? pushReply(s, before, s.turn.number) : s;
  return {
    ...tryAgain(settled),
    turn: {
      ...s.turn,
      steps: s.turn.steps + 1,
      failing: before.phase === 'acting' ? counted(s.turn.failing, before.calls) : s.turn.failing,
      step: {
        phase: 'generating',
        number: e.step,
        startedAt: e.at,
        attempt: 1,
        notBefore: null,
        failure: null,
      },
    },
  };
}

export function modelCompleted(s: State, e: EventOf<'model.completed'>): State {
  const calls = e.parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
  const counters = { ...s.counters, call: s.counters.call + calls.length };
  const after = chargedCall(progressed({ ...countedTokens(driftTold(told(s)), e), counters }), e);
  if (!after.turn) return after;
  return {
    ...after,
    turn: {
      ...after.turn,
      step: {
        phase: 'acting',
        number: e.step,
        seq: e.seq,
        parts: e.parts,
        finish: e.finish,
        noted: calls.length === 0 || textOf(e.parts) === '',
        calls: calls.map((part) => ({ part, state: 'asked' as const })),
      },
    },
  };
}

const BACKOFF_MS = [500, 2_000, 8_000, 30_000];

/** Ends of a model call after which nobody knows what it cost: it had begun. */
const BEGUN: ReadonlySet<string> = new Set(['aborted', 'incomplete', 'failed']);

export function modelFailed(before: State, e: EventOf<'model.failed'>): State {
  const s = BEGUN.has(e.code) ? callLost(before) : before;
  const shown = e.partial.trim() === '' || e.retry ? s : withCutText(s, e.turn, e.step, e.partial);
  if (s.turn?.step.phase !== 'generating' || s.turn.step.number !== e.step) return shown;
  const { step } = s.turn;
  const wait = e.retryAfterMs ?? BACKOFF_MS[Math.min(step.attempt - 1, BACKOFF_MS.length - 1)] ?? 0;
  return {
    ...shown,
    turn: {
      ...s.turn,
      step: {
        ...step,
        attempt: step.attempt + 1,
        notBefore: e.at + wait,
        failure: { code: e.code, message: e.message, retry: e.retry },
      },
    },
  };
}

export function callRefused(s: State, e: EventOf<'call.refused'>): State {
  return answerCall(s, e.call, { status: 'refused', text: `${e.message} [${e.code}]` });
}

/** The model gets a turn; what this call waits for stays open, and its end is reported when it comes. */
export function callSuspended(s: State, e: EventOf<'call.suspended'>): State {
  const call = callsOf(s).find(({ part }) => part.call === e.call);
  if (call?.state !== 'running') return s;
  return answerCall(left(s, call.on), e.call, { status: 'suspended', text: waiting(s, call.on, e.on) });
}

/** Marks what a call has waited for as suspended. */
function left(s: State, on: Running): State {
  const mark =
    (isIt: boolean) =>
    <T>(one: T): T =>
      isIt ? { ...one, isSuspended: true } : one;
  switch (on.kind) {
    case 'effect': {
      const open = s.effects.open.map((effect) => mark(effect.id === on.effect)(effect));
      return { ...s, effects: { ...s.effects, open } };
    }
    case 'timer':
      return { ...s, timers: s.timers.map((timer) => mark(timer.id === on.timer)(timer)) };
    case 'decision':
      return { ...s, decisions: s.decisions.map((d) => mark(d.id === on.decision)(d)) };
    default:
      return s;
  }
}

function waiting(s: State, on: Running, awaited: string): string {
  if (on.kind === 'timer') {
    const due = s.timers.find(({ id }) => id === on.timer)?.due ?? s.at;
    return `Not over yet: timer ${on.timer} goes on until ${new Date(due).toISOString()}, and you will be told.`;
  }
  if (on.kind === 'child')
    return `${on.child} is still at work on it. It goes on, and what comes of it is reported when it is there.`;
  if (on.kind === 'decision') {
    return `A person is asked (decision ${awaited}) and has not answered yet. The answer is reported when it comes.`;
  }
  const isHeld = s.effects.open.some(
    (effect) => on.kind === 'effect' && effect.id === on.effect && effect.status === 'intended',
  );
  if (isHeld && awaited.startsWith('ses_'))
    return `It is not sent: it waits until it is known what became of the like of it that ${awaited} sent. Do not do it by other means.`;
  return isHeld
    ? `It is not sent: it waits until a person has made decision ${awaited}. Do not do it by other means.`
    : `Its outcome is unknown. A person is asked (decision ${awaited}); do not do it again by other means.`;
}

export function progressNoted(s: State, e: EventOf<'progress.noted'>): State {
  if (e.origin?.by === 'cell') return noted(s, e.origin, e);
  if (e.origin) return answerCall(s, e.origin.call, { status: 'done', text: 'noted' });
  if (s.turn?.step.phase !== 'acting') return s;
  return { ...s, turn: { ...s.turn, step: { ...s.turn.step, noted: true } } };
}

export function surfaced(s: State, e: EventOf<'response.surfaced'>): State {
  return withPartial(closeTurn(progressed(s), 'surfaced', e.text, e), e);
}

const withPartial = (s: State, { partial = [] }: { readonly partial?: readonly string[] }): State => ({
  ...s,
  lastTurn: s.lastTurn && { ...s.lastTurn, partial },
});

export function failed(s: State, e: EventOf<'turn.failed'>): State {
  const shown = e.code === 'refused_request' ? withhold(s, e.turn) : s;
  const closed = withPartial(closeTurn(shown, 'failed', e.reason, e), e);
  // What a provider did is no business of the model; a history that it refuses must not grow with each refusal.
  return e.code.startsWith('limit.') || e.code === 'breaker.tripped'
    ? note(closed, `The turn ended without a response: ${e.reason}`, e.at)
    : closed;
}

/**
 * A request that a provider refuses is refused again for as long as it holds the same: files are what can be left out of
 * it first. Those of the turn are the likely ones; when it has none, it is all that are still shown. Then it is reasoning
 * and what providers attach to parts: signatures and ids that they do not know any more.
 */
function withhold(s: State, turn: number): State {
  const shown = s.transcript.filter(hasFiles).map((item) => item.turn);
  const turns = new Set(shown.filter((number) => !s.withheld.includes(number)));
  if (turns.size === 0) return { ...s, context: { ...s.context, plainTo: turn } };
  return { ...s, withheld: [...s.withheld, ...(turns.has(turn) ? [turn] : turns)] };
}

export function interrupted(s: State, e: EventOf<'turn.interrupted'>): State {
  if (s.turn?.number !== e.turn) return s;
  const closed = closeTurn(s, 'interrupted', 'interrupted', e);
  const quiet = withdrawUnsent(
    abortRunningCell(closed),
    (effect) => effect.origin.by === 'call' || effect.origin.cell === s.heap.cell?.id,
    'the turn was interrupted',
    e,
  );
  return note(quiet, `A person interrupted the work here. Do not take it up again unless asked.`, e.at);
}

// ── shared by the slices ───────────────────────────────────────────────────────────────────────────────────

/** Ends the open turn. Calls without a result get one that says the truth about them. */
export function closeTurn(s: State, end: TurnEnd, text: string, e: Stamp): State {
  if (!s.turn) return s;
  const { number, step } = s.turn;
  const closed = step.phase === 'acting' ? pushReply(s, cutOff(s, step), number) : s;
  const stepNumber = step.phase === 'starting' ? 0 : step.number;
  return {
    ...withoutWaits(turnEnded(tryAgain(closed), number, end), number, end === 'interrupted'),
    turn: null,
    lastTurn: { number, end, text, at: e.at, step: stepNumber, partial: [] },
    toldSeq: end === 'interrupted' || end === 'passed' ? s.toldSeq : e.seq,
  };
}

/**
 * What calls of this turn waited for and nobody waits for any more. What was suspended goes on, unless a person ended the
 * very turn that asked for it.
 */
function withoutWaits(s: State, number: number, isInterrupted: boolean): State {
  const { timers } = s;
  const isOver = (wait: { turn: number; isSuspended: boolean }): boolean =>
    !wait.isSuspended || (isInterrupted && wait.turn === number);
  const kept = timers.filter((timer) => !isOver(timer));
  return withdrawQuestions(
    kept.length === timers.length ? s : { ...s, timers: kept },
    (decision) => decision.origin?.by === 'call' && isOver(decision),
  );
}

/** What an asked call has become. */
export function runCall(s: State, call: CallId, on: Running): State {
  return updateCall(s, call, ({ part }) => ({ part, state: 'running', on }));
}

/** Gives an asked or running call its one result. */
export function answerCall(s: State, call: CallId, result: CallResult): State {
  return updateCall(s, call, ({ part }) => ({ part, state: 'answered', result }));
}

function updateCall(s: State, id: CallId, change: (call: Call) => Call): State {
  if (s.turn?.step.phase !== 'acting') return s;
  const calls = s.turn.step.calls.map((call) =>
    call.part.call === id && call.state !== 'answered' ? change(call) : call,
  );
  return { ...s, turn: { ...s.turn, step: { ...s.turn.step, calls } } };
}

export function note(s: State, text: string, at: number, whole?: Whole): State {
  // The event that is folded: it holds what is told.
  const item: Item = { kind: 'note', seq: s.head + 1, text, at, ...given({ whole }) };
  return { ...s, transcript: [...s.transcript, item] };
}

/** Whether a result for `call` can still be given to the model as this call's result. */
export function isOpenCall(s: State, id: CallId): boolean {
  return callsOf(s).some((call) => call.part.call === id && call.state !== 'answered');
}

/** What people get of a reply: its text, and a line for each file in it. */
export function saidIn(parts: readonly Part[]): string {
  const files = parts.flatMap((part) => (part.type === 'file' ? [`[${nameOf(part)}]`] : []));
  return [textOf(parts), ...files].join('\n').trim();
}

/** A reply that asks for calls, none of which can be run. */
export function isBroken(parts: readonly Part[]): boolean {
  const calls = parts.filter((part) => part.type === 'tool-call');
  return calls.length > 0 && calls.every((call) => call.broken !== undefined);
}

/** How many such replies in a row stand before the one that this turn has come to. */
export function brokenBefore(s: State, turn: number): number {
  const isOther = (item: Item): boolean =>
    item.kind !== 'reply' || item.turn !== turn || !isBroken(item.parts);
  return s.transcript.length - 1 - s.transcript.findLastIndex(isOther);
}

type Said = Exclude<Item, { kind: 'note' }>;

export function hasFiles(item: Item): item is Said {
  if (item.kind === 'message') return item.message.images.length > 0;
  return item.kind === 'reply' && item.parts.some((part) => part.type === 'file');
}

/** What a reply says in plain text. */
export function textOf(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  return parts
    .flatMap((part) => (part.type === 'text' && part.text !== undefined ? [part.text] : []))
    .join('\n')
    .trim();
}

function pushReply(s: State, step: Acting, turn: number): State {
  const results = step.calls.flatMap((call) =>
    call.state === 'answered' ? [{ call: call.part.call, tool: call.part.tool, ...call.result }] : [],
  );
  const { seq, number, parts } = step;
  const item: Item = { kind: 'reply', seq, turn, step: number, parts, results, cut: false };
  return step.parts.length === 0 ? s : { ...s, transcript: [...s.transcript, item] };
}

function cutOff(s: State, step: Acting): Acting {
  const calls = step.calls.map((call): Call => {
    if (call.state === 'answered') return call;
    const result: CallResult = { status: 'interrupted', text: interruption(s, call) };
    return { part: call.part, state: 'answered', result };
  });
  return { ...step, calls };
}

function interruption(s: State, call: Call): string {
  if (call.state === 'asked') return 'Interrupted before it was started; nothing was done.';
  if (call.state === 'running' && call.on.kind === 'child')
    return `Interrupted while it waited for ${call.on.child}, which goes on; what comes of it is reported.`;
  const outside = doneOutside(s, ({ origin }) =>
    origin.by === 'call'
      ? origin.call === call.part.call
      : call.state === 'running' && call.on.kind === 'cell' && origin.cell === call.on.cell,
  );
  return outside === ''
    ? 'Interrupted while it ran; nothing is in flight.'
    : `Interrupted while it ran. ${outside}`;
}

function withCutText(s: State, turn: number, step: number, text: string): State {
  const parts: readonly Part[] = [{ type: 'text', text }];
  return {
    ...s,
    transcript: [
      ...s.transcript,
      { kind: 'reply', seq: s.head + 1, turn, step, parts, results: [], cut: true },
    ],
  };
}
