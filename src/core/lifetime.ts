/**
 * Lifetime: who holds the session, and whether it may run.
 *
 * L1  Only `stop` ends a session; everything it knows stays in the log, and `reopen` brings it back.
 * L2  Who is paused, stopped or interrupted while it is queued gives up its place.
 * L3  Holders that die in a row without progress are counted in the log, so the count survives every crash.
 */

import { given } from '../lib/given.ts';
import { callLost, callsUnderWay, tryAgain } from './budget/evolve.ts';
import { withdrawQuestions } from './decision.ts';
import { withdrawUnsent } from './effect.ts';
import { refusal } from './error.ts';
import type { EventOf } from './event.ts';
import { abortRunningCell } from './heap/evolve.ts';
import { workerLost } from './loss.ts';
import { refuseGone } from './retention/gone.ts';
import type { Lifetime, State } from './state.ts';
import { closeTurn } from './turn.ts';

export const NEW_LIFETIME: Lifetime = {
  ...{ status: 'open', queued: null, stoppingAt: null, stoppedBy: null, quarantine: null },
  ...{ epoch: 0, acquiredAt: 0, crashes: 0 },
};

export function started(s: State, e: EventOf<'session.started'>): State {
  const { owner, persist, objective, title, model, tools, limits, seed, parent = null, profile, rates } = e;
  return {
    ...s,
    contract: {
      ...{ owner, persist, objective, title, model, tools, limits, seed, startedAt: e.at },
      ...given({ profile, rates }),
    },
    budget: { ...s.budget, limits: e.budget },
    family: { ...s.family, parent },
  };
}

export function acquired(s: State, e: EventOf<'lease.acquired'>): State {
  const crashes = e.clean ? s.lifetime.crashes : s.lifetime.crashes + 1;
  const held: State = {
    ...(e.clean ? s : callLost(s, callsUnderWay(s))),
    lifetime: { ...s.lifetime, epoch: e.epoch, acquiredAt: e.at, crashes },
    workspace: { ...s.workspace, opened: null },
    heap: { ...s.heap, opened: null },
  };
  return workerLost(s, held, e);
}

/** Called by every transition that proves that the session gets ahead. */
export function progressed(s: State): State {
  return s.lifetime.crashes === 0 ? s : { ...s, lifetime: { ...s.lifetime, crashes: 0 } };
}

export function queued(s: State, { at, place }: EventOf<'session.queued'>): State {
  if (s.lifetime.status !== 'open') return s;
  return { ...s, lifetime: { ...s.lifetime, status: 'queued', queued: { at, place } } };
}

/** L2. */
export function admitted(s: State): State {
  if (s.lifetime.status !== 'queued') return s;
  return { ...s, lifetime: { ...s.lifetime, status: 'open', queued: null } };
}

export function paused(s: State): State {
  const { lifetime } = admitted(s);
  return lifetime.status === 'open' ? { ...s, lifetime: { ...lifetime, status: 'paused' } } : s;
}

export function resumed(s: State): State {
  const status = s.lifetime.status === 'paused' ? 'open' : s.lifetime.status;
  return { ...tryAgain(s), lifetime: { ...s.lifetime, status, quarantine: null, crashes: 0 } };
}

export function stopping(s: State, e: EventOf<'session.stopping'>): State {
  if (s.lifetime.status === 'stopped') return s;
  const ended = s.turn ? closeTurn(s, 'interrupted', 'stopped', e) : s;
  const quiet = withdrawUnsent(abortRunningCell(ended), () => true, 'the session was stopped', e);
  const silent = withdrawQuestions(quiet, ({ origin }) => origin?.by === 'call');
  return {
    ...silent,
    timers: [],
    // Whoever opens it again has not asked for a summary.
    context: { ...silent.context, compacting: null },
    lifetime: {
      ...silent.lifetime,
      ...{ status: 'stopping', queued: null, stoppingAt: e.at, stoppedBy: e.by },
    },
  };
}

export function stopped(s: State, _e: EventOf<'session.stopped'>): State {
  return {
    ...s,
    lifetime: { ...s.lifetime, status: 'stopped', stoppingAt: null },
    workspace: { ...s.workspace, opened: null, parked: true },
    heap: { ...s.heap, opened: null, parked: true },
  };
}

export function reopened(s: State): State {
  return {
    ...s,
    lifetime: {
      ...{ ...s.lifetime, status: 'open', stoppingAt: null, stoppedBy: null },
      ...{ quarantine: null, crashes: 0 },
    },
  };
}

export function quarantined(s: State, e: EventOf<'session.quarantined'>): State {
  return { ...s, lifetime: { ...s.lifetime, quarantine: e.reason } };
}

// ── what is refused in which state ─────────────────────────────────────────────────────────────────────────

/** Throws for what takes no command but `reopen`. */
export function refuseStopped(s: State): void {
  refuseForeign(s);
  if (s.lifetime.status === 'stopped' || s.lifetime.status === 'stopping') {
    throw refusal('session.stopped', 'This session was stopped.', 'reopen it: outlast reopen ID');
  }
}

/** Throws for what only a newer version may go on with. */
export function refuseForeign(s: State): void {
  refuseGone(s);
  const foreign = s.foreign[0];
  if (!foreign) return;
  throw refusal(
    'session.newer_version',
    `A newer version wrote ${foreign.kind} at ${foreign.seq}. This version can show the session and not run it.`,
    'use the newer version',
  );
}
