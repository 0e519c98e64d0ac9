/** A session in one look: what the CLI, the console and programs show. Derived from the fold. */

import {
  type Amounts,
  type Budgets,
  exhaustionInWords,
  type Scope,
  type Spent,
} from '../core/budget/budget.ts';
import type { Capability } from '../core/capability.ts';
import { compactAt } from '../core/context/compaction.ts';
import { contextSize } from '../core/context/size.ts';
import type { DecisionSubject } from '../core/event.ts';
import type { SessionId } from '../core/ids.ts';
import type { KernelLost, KernelObject } from '../core/kernel/event.ts';
import { standingNotice } from '../core/kernel/evolve.ts';
import { STOP_GRACE_MS } from '../core/next.ts';
import { type Phase, phase, rests } from '../core/phase.ts';
import type { Residency } from '../core/residency/policy.ts';
import { causeInWords } from '../core/retention/gone.ts';
import { standingRetention } from '../core/retention/state.ts';
import { needsSlot } from '../core/slot.ts';
import {
  type ClosedTurn,
  type Decision,
  type Effect,
  findEffect,
  isUnknown,
  openDecisions,
  pendingTimers,
  type State,
} from '../core/state.ts';
import type { Json } from '../lib/json.ts';
import { ordinal } from '../lib/text.ts';
import {
  type ChildInspection,
  childrenBudget,
  childrenOf,
  spentWithChildren,
  waitsInWords,
} from './family.ts';
import { type FilesInspection, filesOf } from './files.ts';
import { residency } from './summary.ts';

export interface Inspection {
  readonly id: SessionId;
  readonly title: string;
  readonly objective: string;
  readonly persist: boolean;
  readonly phase: Phase;
  /** Whether nothing more happens until something comes in from a person. */
  readonly rests: boolean;
  readonly residency: Residency;
  /** The last wake by a message: from where, and the ms until there was all it had. Null before the first. */
  readonly woke: { readonly from: Residency; readonly at: number; readonly ms: number | null } | null;
  /** Why it rests, when that is not plain from the phase; null otherwise. */
  readonly reason: string | null;
  /** In the queue for a slot of its owner, 1 for the next; null while it waits for none. */
  readonly place: number | null;
  /** When it goes on by itself: the instant of its next timer; null when it has none. */
  readonly wakesAt: number | null;
  readonly model: string;
  /** What it may use, and has used as far as its log knows. Money is in micro-dollars. */
  readonly budget: Budgets & {
    readonly spent: Spent;
    readonly turnSpent: Spent | null;
    readonly words: string;
    /** Null without children. */
    readonly children: { readonly spent: Spent; readonly held: Amounts } | null;
    /** Whether the open turn rests until somebody raises it. */
    readonly isExhausted: boolean;
  };
  /** The model's view: its size, the size above which its past is compacted, and how often that was done. */
  readonly context: {
    readonly tokens: number;
    readonly compactAt: number;
    readonly windowTokens: number;
    readonly compactions: number;
    /** Items that were compacted so far, and those that stand as they were said. */
    readonly compacted: number;
    readonly items: number;
  };
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly head: number;
  /** The session that it is a fork of, and the last event that they share; null for one that was started. */
  readonly forkedFrom: { readonly session: SessionId; readonly at: number } | null;
  /** Whose child it is; null for a session that is nobody's. */
  readonly parent: SessionId | null;
  readonly children: readonly ChildInspection[];
  readonly epoch: number;
  readonly turn: { readonly number: number; readonly step: number; readonly doing: string } | null;
  readonly lastTurn: {
    readonly number: number;
    readonly end: string;
    readonly text: string;
    /** Titles of children that were cut off in it. */
    readonly partial: readonly string[];
  } | null;
  readonly unread: readonly { readonly id: string; readonly text: string; readonly when: string }[];
  readonly ledger: readonly LedgerRow[];
  readonly decisions: readonly {
    readonly id: string;
    readonly about: DecisionSubject;
    /** The effect that it is about; null for a question that the work asks. */
    readonly effect: string | null;
    readonly question: string;
    /** Why a person is asked; empty for a question of the work. */
    readonly why: string;
    readonly options: readonly string[];
    readonly choices: readonly string[];
    readonly since: number;
    /** Of an approval: the exact action, which a decision can name. */
    readonly action: { readonly tool: string; readonly target: string; readonly args: Json } | null;
    readonly digest: string | null;
    /** From then on it can be answered no more; null when there is no such instant. */
    readonly expiresAt: number | null;
  }[];
  readonly heap: {
    readonly generation: number;
    readonly live: readonly {
      readonly name: string;
      readonly type: string;
      readonly size: number | null;
      readonly cell: string;
    }[];
    readonly images: number;
    readonly bytes: number;
    readonly restored: { readonly rung: string; readonly at: number; readonly note: string } | null;
  };
  /** Of Python; null while it never had any. */
  readonly kernel: {
    readonly generation: number;
    readonly live: readonly KernelObject[];
    /** What is given up at `until`, by the owner's policy, unless something comes in before. */
    readonly notice: { readonly until: number; readonly unsaved: readonly KernelLost[] } | null;
  } | null;
  /** Of a session that is not kept for ever: for how long, and when it is deleted unless something comes in before. */
  readonly retention: { readonly keptMs: number; readonly deleteAt: number | null } | null;
  /** Null while it never had a file. */
  readonly workspace: FilesInspection | null;
}

export interface LedgerRow {
  readonly effect: string;
  readonly status: Effect['status'];
  readonly tool: string;
  readonly target: string;
  readonly capability: Capability['kind'];
  /** The rule of the policy by which it was sent, asked about or denied. */
  readonly rule: string;
  readonly attempts: number;
  /** How the outcome was known when the service did not simply answer. */
  readonly evidence: string | null;
  readonly error: string | null;
  readonly at: number;
}

/** `place`: in the queue as it is now, where somebody has looked; else as it was when it was queued. */
export function inspect(id: SessionId, s: State, place = s.lifetime.queued?.place ?? null): Inspection {
  const { contract, lifetime, heap } = s;
  const inQueue = lifetime.queued !== null && needsSlot(s, s.at) ? place : null;
  const images = heap.chain ? [heap.chain.base, ...heap.chain.deltas] : [];
  return {
    id,
    title: contract.title,
    objective: contract.objective,
    persist: contract.persist,
    phase: phase(s),
    rests: rests(s),
    residency: residency(s),
    woke: wokeOf(s),
    reason: reasonOf(id, s, inQueue),
    place: inQueue,
    wakesAt: earliest(pendingTimers(s).map(({ due }) => due)),
    model: contract.model,
    budget: {
      ...s.budget.limits,
      ...{ spent: s.budget.spent, turnSpent: s.turn?.spent ?? null, words: spentWithChildren(s) },
      children: childrenBudget(s),
      isExhausted: s.budget.exhausted !== null,
    },
    context: contextOf(s),
    startedAt: contract.startedAt,
    updatedAt: s.activeAt,
    head: s.head,
    forkedFrom: s.fork && { session: s.fork.from, at: s.fork.head },
    parent: s.family.parent?.session ?? null,
    children: childrenOf(s),
    epoch: lifetime.epoch,
    turn: s.turn && { number: s.turn.number, step: s.turn.steps, doing: doing(s) },
    lastTurn: s.lastTurn && lastTurnOf(s.lastTurn),
    unread: s.inbox.unread.map(({ id: message, text, when }) => ({ id: message, text, when })),
    ledger: [...s.effects.closed, ...s.effects.open].map((effect) => ledgerRow(effect, lifetime.epoch)),
    decisions: openDecisions(s).map((decision) => decisionRow(s, decision)),
    heap: {
      generation: heap.generation,
      live: heap.live,
      images: images.length,
      bytes: images.reduce((sum, image) => sum + image.bytes, 0),
      restored: heap.restored && { rung: heap.restored.rung, at: heap.restored.at, note: heap.restored.note },
    },
    kernel: kernelOf(s),
    retention: retentionOf(s),
    workspace: filesOf(s),
  };
}

function retentionOf(s: State): Inspection['retention'] {
  const { retentionMs: keptMs } = s.contract.limits;
  return keptMs === 0 ? null : { keptMs, deleteAt: standingRetention(s)?.until ?? null };
}

const lastTurnOf = ({ number, end, text, partial }: ClosedTurn): Inspection['lastTurn'] => ({
  ...{ number, end, text, partial },
});

function kernelOf(s: State): Inspection['kernel'] {
  const { generation, live } = s.kernel;
  const notice = standingNotice(s);
  if (live.length === 0 && generation === 1 && notice === null) return null;
  return { generation, live, notice: notice && { until: notice.until, unsaved: notice.unsaved } };
}

function wokeOf({ residence: { woke } }: State): Inspection['woke'] {
  return woke && { from: woke.from, at: woke.at, ms: woke.ms };
}

const contextOf = (s: State): Inspection['context'] => ({
  tokens: contextSize(s).tokens,
  compactAt: Math.round(compactAt(s)),
  windowTokens: s.contract.limits.windowTokens,
  compactions: s.context.past?.times ?? 0,
  compacted: s.context.past?.items ?? 0,
  items: s.transcript.length,
});

const earliest = (instants: readonly number[]): number | null =>
  instants.length === 0 ? null : Math.min(...instants);

function decisionRow(s: State, decision: Decision): Inspection['decisions'][number] {
  const { id, about, effect, question, why, options, choices, requestedAt, digest, expiresAt } = decision;
  const asked = about === 'approval' && effect !== null ? findEffect(s, effect) : undefined;
  return {
    ...{ id, about, effect, question, why, options, choices, digest, expiresAt },
    since: requestedAt,
    action: asked ? { tool: asked.tool, target: asked.target, args: asked.args } : null,
  };
}

function ledgerRow(effect: Effect, epoch: number): LedgerRow {
  const { outcome, evidence } = effect;
  return {
    effect: effect.id,
    status: isUnknown(effect, epoch) ? 'unknown' : effect.status,
    tool: effect.tool,
    target: effect.target,
    capability: effect.capability.kind,
    rule: effect.policy.rule,
    attempts: effect.attempts,
    evidence: evidence && `${evidence.by}: ${evidence.note}`,
    error: outcome?.status === 'failed' ? outcome.message : effect.unknownReason,
    at: effect.dispatch?.at ?? effect.intendedAt,
  };
}

function doing(s: State): string {
  const step = s.turn?.step;
  if (!step || step.phase === 'starting') return 'starting';
  if (step.phase === 'generating')
    return step.failure ? `model call again: ${step.failure.message}` : 'model call';
  const running = step.calls.filter((call) => call.state !== 'answered').map((call) => call.part.tool);
  return running.length === 0 ? 'answering' : running.join(', ');
}

const RAISE: Record<Scope, (id: SessionId) => string> = {
  turn: (id) => `outlast budget ${id} --turn usd=…`,
  session: (id) => `outlast budget ${id} usd=…`,
  owner: () => 'outlast budget --owner-set usd=…',
};

function reasonOf(id: SessionId, s: State, place: number | null): string | null {
  const { quarantine, status } = s.lifetime;
  if (s.retention.going !== null) return `It is being deleted ${causeInWords(s.retention.going)}.`;
  if (quarantine !== null) return `${quarantine} Look at it, then resume.`;
  const foreign = s.foreign[0];
  if (foreign)
    return `A newer version wrote ${foreign.kind} at ${foreign.seq}; this version does not run it.`;
  const { exhausted } = s.budget;
  if (exhausted !== null) {
    const what = { microUsd: 'usd', tokens: 'tokens', steps: 'steps', ms: 'minutes' }[exhausted.what];
    const raise = RAISE[exhausted.scope](id).replace('usd', what);
    return `${exhaustionInWords(exhausted)} Raise it: ${raise}, or interrupt the turn.`;
  }
  if (status === 'stopping')
    return `Live resources are going; at most ${STOP_GRACE_MS / 1_000} s for requests in flight.`;
  if (place !== null) return `Waits for a slot: ${ordinal(place)} in the queue.`;
  if (s.lastTurn?.end === 'failed' && !s.turn) return s.lastTurn.text;
  return status === 'open' ? waitsInWords(s) : null;
}
