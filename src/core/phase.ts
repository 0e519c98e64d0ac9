/** The phase of a session, in the one set of words. Pure. */

import { type Child, childInTheWay } from './family/state.ts';
import type { PortCall } from './flight.ts';
import { work } from './next.ts';
import { needsSlot } from './slot.ts';
import { callsOf, openDecisions, pendingTimers, type State } from './state.ts';

export type Phase =
  | 'working'
  | 'awaiting_input'
  | 'awaiting_decision'
  | 'sleeping'
  | 'paused'
  /** Asked to stop; its live resources are not gone yet. */
  | 'stopping'
  | 'stopped'
  /** On its way to `deleted`, of which its tombstone is all that is left. */
  | 'deleting'
  | 'deleted'
  | 'completed';

/** What is done beside the work: to keep its view small, and between it and its kin. Nobody waits for that. */
const ASIDE: ReadonlySet<PortCall['do']> = new Set(['compact', 'report', 'relay']);

export function phase(s: State): Phase {
  const { status, quarantine } = s.lifetime;
  if (s.retention.deleted !== null) return 'deleted';
  if (s.retention.going !== null) return 'deleting';
  if (status === 'stopped' || status === 'stopping') return status;
  if (status === 'paused' || quarantine !== null || s.foreign.length > 0) return 'paused';
  if (status === 'queued' && needsSlot(s, s.at)) return 'working';
  const { choices, calls: all } = work(s, s.at);
  const calls = all.filter((call) => !ASIDE.has(call.do));
  // Also without a turn: what a cell left in the background goes on, and the log moves by itself.
  if (choices.length > 0 || calls.length > 0 || isClearingUp(s)) return 'working';
  if (s.budget.exhausted !== null) return 'paused';
  if (s.turn === null && s.inbox.unread.length === 0) return atRest(s);
  if (openDecisions(s).length > 0) return 'awaiting_decision';
  return pendingTimers(s).length > 0 || awaitedChildren(s).length > 0 ? 'sleeping' : 'working';
}

const UNDER_WAY: ReadonlySet<Phase> = new Set<Phase>(['working', 'stopping', 'deleting']);

/** Whether nothing more happens until something comes in from a person, also where it is a child that waits for one. */
export function rests(s: State, standing: Phase = phase(s)): boolean {
  if (standing !== 'sleeping') return !UNDER_WAY.has(standing);
  const awaited = awaitedChildren(s);
  const isAsking = ({ standing: of }: Child): boolean => (of?.questions.length ?? 0) > 0;
  return pendingTimers(s).length === 0 && awaited.length > 0 && awaited.every(isAsking);
}

/** Those that calls of the open turn wait for, or behind whose unknown effects its own are held. */
export function awaitedChildren(s: State): readonly Child[] {
  const ids = callsOf(s).flatMap((call) =>
    call.state === 'running' && call.on.kind === 'child' ? [call.on.child] : [],
  );
  const held = s.effects.open.filter(({ status }) => status === 'intended');
  const inTheWay = held.map((effect) => childInTheWay(s, effect));
  return s.family.children.filter((child) => ids.includes(child.id) || inTheWay.includes(child));
}

/** An effect has left whose outcome is still looked for, by us and not by a person. */
function isClearingUp(s: State): boolean {
  const asked = new Set(openDecisions(s).map((decision) => decision.effect));
  return s.effects.open.some((effect) => effect.status !== 'intended' && !asked.has(effect.id));
}

function atRest(s: State): Phase {
  if (openDecisions(s).length > 0) return 'awaiting_decision';
  if (s.lastTurn?.end !== 'surfaced' || s.contract.persist) return 'awaiting_input';
  // What a cell left in the background goes on at an instant: a one-shot task is not done before.
  return pendingTimers(s).length > 0 ? 'sleeping' : 'completed';
}
