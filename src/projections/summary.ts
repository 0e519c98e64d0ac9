/** The index row of a session, which the store keeps beside its log: what a list, the sweeper and the inbox look at. Pure. */

import type { Spent } from '../core/budget/budget.ts';
import type { Profile } from '../core/conversation/event.ts';
import { spentInTree } from '../core/family/state.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import { next } from '../core/next.ts';
import { type Phase, phase } from '../core/phase.ts';
import { keptOf, type Residency, restsAt } from '../core/residency/policy.ts';
import { needsSlot } from '../core/slot.ts';
import { openDecisions, type State, unknownEffects } from '../core/state.ts';
import { given } from '../lib/given.ts';
import { oneLine } from '../lib/text.ts';
import { awaiting } from './awaiting.ts';
import { waitsFor } from './waits.ts';

/** Whether some worker may hold live objects of it in memory. A separate axis: every phase can be parked. */
export const residency = (s: State, standing: Phase = phase(s)): Residency =>
  standing === 'working' ? 'resident' : restsAt(s);

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
  /** Since when it waits for a slot of its owner; not there while it waits for none. */
  readonly queuedAt?: number;
  /** What the statistics count; not there in rows of a version that counted nothing. */
  readonly residence?: {
    readonly followUps: number;
    readonly heldMbMinutes: number;
    readonly imageBytes: number;
    /** Only where it was closed too early. */
    readonly tooEarly?: { readonly times: number; readonly ms: number; readonly tokens: number };
  };
  /** Only there for what is no task. */
  readonly profile?: Profile;
  /** What it waits for, in words. Not there in older rows, and of what waits for nothing. */
  readonly waitsFor?: string;
  /** By it and its children, as far as its log knows. Not there in older rows. */
  readonly spent?: Spent;
  /** Only there for a fork. */
  readonly forkedFrom?: SessionId;
  /** Only there for a child. */
  readonly parent?: SessionId;
}

/** Since when it waits for a slot; undefined while it has nothing to do that takes one. */
const queuedSince = (s: State, now: number): number | undefined =>
  s.lifetime.queued !== null && needsSlot(s, now) ? s.lifetime.queued.at : undefined;

function residenceOf(s: State): NonNullable<Summary['residence']> {
  const { followUps, heldMbMinutes, tooEarly } = s.residence;
  const { imageBytes } = keptOf(s);
  const kept = { followUps, heldMbMinutes: Math.round(heldMbMinutes * 10) / 10, imageBytes };
  return tooEarly.times === 0 ? kept : { ...kept, tooEarly };
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
    residence: residenceOf(s),
    ...given({ queuedAt: queuedSince(s, now) }),
    ...given({ profile: s.contract.profile, waitsFor: waitsFor(s, standing) ?? undefined }),
    spent: spentInTree(s),
    ...(s.fork ? { forkedFrom: s.fork.from } : {}),
    ...(s.family.parent ? { parent: s.family.parent.session } : {}),
  };
}
