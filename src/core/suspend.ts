/** How the model gets a turn while something is waited for. Pure; part of `next`. */

import { unreachable } from '../lib/assert.ts';
import { isConversation } from './conversation/state.ts';
import type { Awaited, EventBody } from './event.ts';
import { childInTheWay } from './family/state.ts';
import { heldBy } from './held.ts';
import type { CellId, EffectId, SessionId } from './ids.ts';
import type { Message } from './message.ts';
import { type Decision, openDecisions, type Running, type State, type Step } from './state.ts';

/**
 * A message gives the model a turn although something is waited for: any message while it sleeps or waits for a child, a
 * message `now` while a person owes a decision or code waits for its timer. A conversation never waits for its timers.
 */
export function suspensions(s: State, step: Extract<Step, { phase: 'acting' }>): readonly EventBody[] {
  const isUrgent = s.inbox.unread.some((message) => message.when === 'now');
  const isCalled = forThisTurn(s).length > 0;
  const isWaitedFor = (on: Running): boolean => !(on.kind === 'timer' && isConversation(s));
  return step.calls.flatMap((call): readonly EventBody[] => {
    if (call.state !== 'running' || (!isCalled && isWaitedFor(call.on))) return [];
    const on = awaited(s, call.on, isUrgent);
    if (on === undefined) return [];
    return call.on.kind === 'cell'
      ? [{ kind: 'cell.suspended', cell: call.on.cell, on }]
      : [{ kind: 'call.suspended', call: call.part.call, on }];
  });
}

/** What a running call waits for that it can be gone on without. */
function awaited(s: State, on: Running, isUrgent: boolean): Awaited | undefined {
  switch (on.kind) {
    case 'timer':
      return on.timer;
    case 'child':
      return on.child;
    case 'decision':
      return isUrgent ? on.decision : undefined;
    case 'effect':
      return isUrgent ? (waitsFor(s, on.effect)?.id ?? heldBehind(s, on.effect)) : undefined;
    case 'cell':
      return isUrgent && s.heap.cell?.committed ? cellWaitsFor(s, on.cell) : undefined;
    default:
      return unreachable(on);
  }
}

/** What stands between this cell and its next line, where that takes as long as it takes. */
function cellWaitsFor(s: State, cell: CellId): Awaited | undefined {
  const own = s.heap.pending.filter((call) => call.cell === cell && !call.answer);
  for (const call of own) {
    if (call.on === 'decision') return call.decision;
    const decision = call.on === 'effect' ? waitsFor(s, call.effect) : undefined;
    if (decision) return decision.id;
  }
  const timer = own.every((call) => call.on === 'timer') ? own[0] : undefined;
  return timer?.on === 'timer' ? timer.timer : undefined;
}

/** The open decision about this effect, or about the one that it is held behind. */
function waitsFor(s: State, id: EffectId): Decision | undefined {
  const about = (one: EffectId | undefined): Decision | undefined =>
    openDecisions(s).find((decision) => decision.effect === one);
  const effect = s.effects.open.find((open) => open.id === id);
  const holder = effect?.status === 'intended' ? heldBy(s, effect) : undefined;
  return about(id) ?? (holder && about(holder.id));
}

/** The child behind whose unknown effect it is held. */
function heldBehind(s: State, id: EffectId): SessionId | undefined {
  const effect = s.effects.open.find((open) => open.id === id);
  return effect?.status === 'intended' ? childInTheWay(s, effect)?.id : undefined;
}

export const forThisTurn = (s: State): readonly Message[] =>
  s.inbox.unread.filter((message) => message.when !== 'later');
