/**
 * `next(state, now)`: what should be in flight now. Pure; recovery is nothing but asking it again.
 *
 * N1  `choices` are events that the holder decides on this very head; they are committed before anything else.
 * N2  `calls` are the port calls that should be in flight. The actor starts what is named and not running, and aborts
 *     what is running and not named any more. So an interrupt, a stop or a message `now` needs no other path.
 * N3  An effect is called only when its dispatch mark stands in the log under the current epoch.
 * N4  `wakeAt` is the next instant at which the answer could differ without any new event.
 */

import { approvalOf } from './approval.ts';
import { tripped, trippedInWords } from './budget/breaker.ts';
import { claims } from './claims.ts';
import { compaction, isOverfull, isStuck } from './context/next.ts';
import { chosenEnd, mayLetPass, mustLook } from './conversation/next.ts';
import type { EventBody } from './event.ts';
import { areStopped, kin } from './family/next.ts';
import { cutOff } from './family/state.ts';
import { call, choose, join, type Next, REST, wake } from './flight.ts';
import { heap, mustOpen } from './heap/next.ts';
import { mayDispatch } from './held.ts';
import { mint } from './ids.ts';
import { kernel, mustHear } from './kernel/next.ts';
import type { Message } from './message.ts';
import { upkeep } from './residency/next.ts';
import { question, resolve, whyUnknown } from './resolve.ts';
import { retention } from './retention/next.ts';
import { type Effect, isUnknown, openDecisions, pendingTimers, type State, type Step } from './state.ts';
import { forThisTurn, suspensions } from './suspend.ts';
import { brokenBefore, isBroken, saidIn, textOf } from './turn.ts';
import { checkout, files, isCheckedOut, isInHand, mustCheckOut, mustWaitForFiles } from './workspace/next.ts';

/** How long `stop` waits for requests that have already left. */
export const STOP_GRACE_MS = 5_000;

export function next(s: State, now: number): Next {
  const wanted = work(s, now);
  const isAtRest = wanted.choices.length === 0 && wanted.calls.length === 0;
  return isAtRest ? join([wanted, upkeep(s, now), retention(s, now)]) : wanted;
}

/** The same without what is done for a session that rests: that is no work of its own, and nobody waits for it. */
export function work(s: State, now: number): Next {
  if (latest?.s !== s || latest.now !== now) latest = { s, now, wanted: workOf(s, now) };
  return latest.wanted;
}

/** A commit asks this of the same state for its choices, for its summary and for what comes after it. */
let latest: { readonly s: State; readonly now: number; readonly wanted: Next } | null = null;

function workOf(s: State, now: number): Next {
  if (s.head === 0 || s.foreign.length > 0 || s.retention.deleted !== null) return REST;
  if (s.retention.going !== null) return { ...REST, calls: [{ do: 'erase' }] };
  if (s.lifetime.status === 'stopped') return kin(s);
  if (s.lifetime.status === 'stopping') return stopping(s, now);
  if (s.lifetime.quarantine !== null) return join([inFlight(s), kin(s)]);
  if (s.lifetime.crashes >= s.contract.limits.crashes) return quarantine(s);
  // Paused, or queued: what was sent is still cleared up, and nothing new begins, in code neither.
  if (s.lifetime.status !== 'open') return join([effects(s, now), expiries(s, now), kin(s)]);
  return join([
    effects(s, now),
    expiries(s, now),
    timers(s, now),
    heap(s, now),
    files(s, now),
    kernel(s, now),
    kin(s),
    turn(s, now),
    compaction(s, now),
  ]);
}

// ── effects ────────────────────────────────────────────────────────────────────────────────────────────────

function effects(s: State, now: number): Next {
  let asked = 0;
  const ahead = (): number => asked++;
  return join(
    s.effects.open.map((effect): Next => {
      if (effect.status === 'intended') {
        const approval = approvalOf(s, effect, now, ahead);
        if (approval) return choose(approval);
        return mayDispatch(s, effect) ? send(s, effect, now) : REST;
      }
      if (!isUnknown(effect, s.lifetime.epoch)) return callOf(effect);
      const resolution = resolve(s, effect, now);
      switch (resolution.do) {
        case 'redispatch':
          return s.lifetime.status === 'open' ? send(s, effect, now) : REST;
        case 'query':
        case 'audit':
          return call({ do: resolution.do, effect: effect.id, n: resolution.n });
        case 'conclude':
          return choose(resolution.event);
        case 'ask':
          return choose({
            kind: 'decision.requested',
            decision: mint.decision(s.counters, ahead()),
            about: 'unknown',
            effect: effect.id,
            origin: null,
            question: question(effect),
            why: whyUnknown(effect),
            options: ['done', 'not-done', 'reject'],
            choices: [],
            digest: null,
            expiresAt: null,
          });
        case 'wait':
          return wake(resolution.until);
        default:
          return REST;
      }
    }),
  );
}

/** Dispatches it, once the files that it needs are there and nobody else's hand is on them. */
function send(s: State, effect: Effect, now: number): Next {
  if (effect.files === undefined) return choose(dispatch(s, effect));
  if (!isCheckedOut(s)) return isInHand(s) ? REST : checkout(s);
  return mustWaitForFiles(s, effect, now) ? REST : choose(dispatch(s, effect));
}

const dispatch = (s: State, effect: Effect): EventBody => ({
  kind: 'effect.dispatched',
  effect: effect.id,
  attempt: effect.attempts + 1,
  epoch: s.lifetime.epoch,
});

const callOf = ({ id, attempts }: Effect): Next => call({ do: 'call', effect: id, attempt: attempts });

function inFlight(s: State): Next {
  return join(
    s.effects.open
      .filter((effect) => effect.status === 'dispatched' && !isUnknown(effect, s.lifetime.epoch))
      .map(callOf),
  );
}

/** Questions whose time is over, and the instant at which the next one's is. */
function expiries(s: State, now: number): Next {
  return join(
    openDecisions(s).map(({ id, expiresAt }) => {
      if (expiresAt === null) return REST;
      return expiresAt <= now ? choose({ kind: 'decision.expired', decision: id }) : wake(expiresAt);
    }),
  );
}

function timers(s: State, now: number): Next {
  return join(
    pendingTimers(s).map(({ id, due }) =>
      due <= now ? choose({ kind: 'timer.fired', timer: id }) : wake(due),
    ),
  );
}

// ── turn ───────────────────────────────────────────────────────────────────────────────────────────────────

function turn(s: State, now: number): Next {
  if (!s.turn) return s.inbox.unread.length > 0 ? startTurn(s) : REST;
  const { step } = s.turn;
  switch (step.phase) {
    case 'starting':
      return startStep(s, s.turn.number, s.turn.steps + 1, s.inbox.unread);
    case 'generating':
      return generating(s, s.turn.number, step, now);
    case 'acting':
      return acting(s, s.turn.number, step);
  }
}

function startTurn(s: State): Next {
  const number = s.turns + 1;
  const first = startStep(s, number, 1, s.inbox.unread);
  return { ...first, choices: [{ kind: 'turn.started', turn: number }, ...first.choices] };
}

function startStep(s: State, number: number, step: number, messages: readonly Message[]): Next {
  if (s.turn && s.turn.steps >= s.contract.limits.stepsPerTurn) {
    const reason = `It took ${s.turn.steps} steps without an answer, the most that one turn may take. Say how to go on.`;
    return fail(s, number, 'limit.steps', reason);
  }
  const ids = messages.map((message) => message.id);
  return choose(
    { kind: 'step.started', turn: number, step },
    ...(ids.length > 0 ? [{ kind: 'message.read' as const, turn: number, step, messages: ids }] : []),
  );
}

function generating(
  s: State,
  number: number,
  step: Extract<Step, { phase: 'generating' }>,
  now: number,
): Next {
  // Nothing is called, and whatever comes in waits, until somebody changes a limit or resumes.
  if (s.budget.exhausted !== null) return REST;
  if (s.inbox.unread.some((message) => message.when === 'now')) {
    return startStep(s, number, step.number + 1, forThisTurn(s));
  }
  const { failure } = step;
  if (failure && (!failure.retry || step.attempt > s.contract.limits.modelAttempts)) {
    return fail(s, number, failure.code, failure.message);
  }
  if (mustOpen(s, now) || mustCheckOut(s, now) || mustHear(s, now)) return REST;
  if (isStuck(s)) return fail(s, number, 'context.full', FULL);
  if (isOverfull(s)) return REST;
  if (step.notBefore !== null && step.notBefore > now) return wake(step.notBefore);
  if (mustLook(s, number, step.number)) return call({ do: 'look', turn: number, step: step.number });
  return call({ do: 'generate', turn: number, step: step.number, attempt: step.attempt });
}

function acting(s: State, number: number, step: Extract<Step, { phase: 'acting' }>): Next {
  if (step.calls.length === 0 || step.finish === 'refusal') return surface(s, number, step);
  if (isBroken(step.parts) && brokenBefore(s, number) >= BROKEN_RETRIES) {
    return fail(s, number, 'model.broken', BROKEN);
  }
  if (!step.noted) {
    const text = textOf(step.parts);
    return choose({ kind: 'progress.noted', turn: number, step: step.number, text, origin: null });
  }
  if (step.calls.every(({ state }) => state === 'answered')) {
    const failing = s.turn && tripped(s.turn.failing, step.calls);
    if (failing) return fail(s, number, 'breaker.tripped', trippedInWords(failing));
    const end = chosenEnd(s, number, step);
    if (end) return choose(end);
    return startStep(s, number, step.number + 1, forThisTurn(s));
  }
  const asked = step.calls.flatMap(({ state, part }) => (state === 'asked' ? [part] : []));
  // One cell at a time, in the order of the calls; effects side by side.
  const code = asked.find(({ tool }) => tool === 'code');
  const ready = asked.filter((part) => part.tool !== 'code' || (!s.heap.cell && part === code));
  const plans = ready.map((part) => ({ do: 'plan' as const, call: part.call }));
  return join([call(...plans), choose(...suspensions(s, step))]);
}

const FULL =
  'The work is not done: what the model has to see at the least is more than it takes in one request, and nothing of it can ' +
  'be left out. Say less at once, or start with a larger window (limits.windowTokens).';

/** A model that is told of its cut calls may do better. It is not told a third time: each try costs its whole limit. */
const BROKEN_RETRIES = 2;
const BROKEN =
  `The model's calls came cut off or malformed ${BROKEN_RETRIES + 1} times in a row. None of them was run. ` +
  'Ask for less at once, or in other words.';

function surface(s: State, number: number, step: Extract<Step, { phase: 'acting' }>): Next {
  const text = saidIn(step.parts);
  if (step.finish === 'refusal') {
    const reason = `The model refused${text === '' ? '.' : `: ${text}`}`;
    return fail(s, number, 'model.refused', reason);
  }
  if (text === '' && mayLetPass(s)) return choose({ kind: 'turn.passed', turn: number });
  if (text === '') {
    const reason = 'The model ended its turn without a word. Ask again, or in other words.';
    return fail(s, number, 'model.empty', reason);
  }
  return choose({
    kind: 'response.surfaced',
    turn: number,
    text,
    answers: s.turn?.answers ?? [],
    complete: step.finish !== 'length',
    claims: claims(s),
    ...partialOf(s),
  });
}

function partialOf(s: State): { readonly partial?: readonly string[] } {
  const partial = cutOff(s).map(({ title }) => title);
  return partial.length === 0 ? {} : { partial };
}

const fail = (s: State, turn: number, code: string, reason: string): Next =>
  choose({ kind: 'turn.failed', turn, code, reason, claims: claims(s), ...partialOf(s) });

// ── lifetime ───────────────────────────────────────────────────────────────────────────────────────────────

function stopping(s: State, now: number): Next {
  const sent = inFlight(s);
  const deadline = (s.lifetime.stoppingAt ?? now) + STOP_GRACE_MS;
  const passing = kin(s);
  if (passing.choices.length > 0) return passing;
  if (now < deadline && (sent.calls.length > 0 || !areStopped(s)))
    return join([{ ...sent, wakeAt: deadline }, passing]);
  if (passing.calls.length > 0) return passing;
  return call({ do: 'release' });
}

function quarantine(s: State): Next {
  const reason = `${s.lifetime.crashes} workers in a row died over this session without getting ahead.`;
  return choose({ kind: 'session.quarantined', reason });
}
