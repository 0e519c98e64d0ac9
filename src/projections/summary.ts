/** The index row of a session, which the store keeps beside its log: what a list, the sweeper and the inbox look at. Pure. */

import type { Spent } from '../core/budget.ts';
import type { Profile } from '../core/conversation-event.ts';
import { spentInTree } from '../core/family.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import { next } from '../core/next.ts';
import { type Phase, phase } from '../core/phase.ts';
import { openDecisions, type State, unknownEffects } from '../core/state.ts';
import { given } from '../lib/given.ts';
import { oneLine } from '../lib/text.ts';
import { awaiting } from './awaiting.ts';
import { waitsFor } from './waits.ts';

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
  /** Only there for what is no task. */
  readonly profile?: Profile;
  /** What it waits for, in words. Not there in older rows, and of what waits for nothing. */
  readonly waitsFor?: string;
  /** By it and its children, as far as its log knows. Not there in older rows. */
  readonly spent?: Spent;
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
    ...given({ profile: s.contract.profile, waitsFor: waitsFor(s, standing) ?? undefined }),
    spent: spentInTree(s),
    ...(s.fork ? { forkedFrom: s.fork.from } : {}),
  };
}
