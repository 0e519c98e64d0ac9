/** The phase of a session in the one set of words, and the index row that the store keeps of it. Pure. */

import { oneLine } from '../lib/text.ts';
import { awaiting } from './awaiting.ts';
import type { Owner, SessionId } from './ids.ts';
import { next, work } from './next.ts';
import { openDecisions, pendingTimers, type State, unknownEffects } from './state.ts';

export type Phase =
  | 'working'
  | 'awaiting_input'
  | 'awaiting_decision'
  | 'sleeping'
  | 'paused'
  /** Asked to stop; its live resources are not gone yet. */
  | 'stopping'
  | 'stopped'
  | 'completed';

export function phase(s: State): Phase {
  const { status, quarantine } = s.lifetime;
  if (status === 'stopped' || status === 'stopping') return status;
  if (status === 'paused' || quarantine !== null || s.foreign.length > 0) return 'paused';
  const { choices, calls } = work(s, s.at);
  // Also without a turn: what a cell left in the background goes on, and the log moves by itself.
  if (choices.length > 0 || calls.length > 0 || isClearingUp(s)) return 'working';
  if (s.budget.exhausted !== null) return 'paused';
  if (s.turn === null && s.inbox.unread.length === 0) return atRest(s);
  if (openDecisions(s).length > 0) return 'awaiting_decision';
  return pendingTimers(s).length > 0 ? 'sleeping' : 'working';
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

/** Whether some worker may hold live objects of it in memory. A separate axis: every phase can be parked. */
export type Residency = 'resident' | 'parked';

export const residency = (s: State, standing: Phase = phase(s)): Residency =>
  !s.heap.parked || standing === 'working' ? 'resident' : 'parked';

/** What lists, the sweeper and the inbox need without reading the log; the store keeps it as the index row. */
export interface Summary {
  readonly owner: Owner;
  readonly phase: string;
  /** Not there in rows of a version that did not park. */
  readonly residency?: Residency;
  readonly title: string;
  readonly persist: boolean;
  /** When the driver must look at it again; 0 = now, null = only when something comes in. */
  readonly dueAt: number | null;
  readonly updatedAt: number;
  readonly startedAt: number;
  readonly lastResponse: string | null;
  readonly openDecisions: number;
  /** Things that rest until a person does something. Not there in rows of a version that had no inbox. */
  readonly awaiting?: number;
  readonly unknownEffects: number;
  readonly turn: number;
  /** Only there for a fork. */
  readonly forkedFrom?: SessionId;
}

export function summarize(s: State, now: number): Summary {
  const { choices, calls, wakeAt } = next(s, now);
  const standing = phase(s);
  return {
    owner: s.contract.owner,
    phase: standing,
    residency: residency(s, standing),
    title: s.contract.title,
    persist: s.contract.persist,
    dueAt: choices.length > 0 || calls.length > 0 ? 0 : wakeAt,
    updatedAt: s.activeAt,
    startedAt: s.contract.startedAt,
    lastResponse: s.lastTurn?.end === 'surfaced' ? oneLine(s.lastTurn.text, 200) : null,
    openDecisions: openDecisions(s).length,
    awaiting: awaiting(s).length,
    unknownEffects: unknownEffects(s).length,
    turn: s.turns,
    ...(s.fork ? { forkedFrom: s.fork.from } : {}),
  };
}
