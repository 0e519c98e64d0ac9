/**
 * What awaits a person: one list over approvals, unknown effects, questions of the work, and sessions that were taken out
 * of the way. Pure; the inbox of an owner is this over all of their sessions.
 *
 * W1  Everything that rests until a person does something is in it, and it says what happens on each answer.
 * W2  It is derived from the log like all else: whoever comes late sees the same.
 */

import { type Exhaustion, exhaustionInWords, spentInWords } from '../core/budget/budget.ts';
import type { DecisionAnswer, DecisionSubject } from '../core/event.ts';
import type { EffectId } from '../core/ids.ts';
import { type Notice, standingNotices } from '../core/residency/notice.ts';
import { type Decision, findEffect, openDecisions, type State } from '../core/state.ts';
import { unreachable } from '../lib/assert.ts';
import type { Json } from '../lib/json.ts';

export interface Awaiting {
  /** The decision; `resume` where the answer is to resume the session. */
  readonly id: string;
  readonly about: DecisionSubject | 'quarantine' | 'budget' | 'notice';
  readonly effect: EffectId | null;
  /** What is asked, in words. */
  readonly question: string;
  /** Why a person is asked. */
  readonly why: string;
  /** What is known, one line each. */
  readonly evidence: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** From then on it can be answered no more; null when there is no such instant. */
  readonly expiresAt: number | null;
  /** What can be answered, and what happens then. */
  readonly answers: readonly { readonly answer: DecisionAnswer | 'resume'; readonly brings: string }[];
  /** Of a question: the answers that are offered; none when any text will do. */
  readonly choices: readonly string[];
  /** Of an approval: the exact action, and its digest, which a decision can name. */
  readonly action: { readonly tool: string; readonly target: string; readonly args: Json } | null;
  readonly digest: string | null;
}

export function awaiting(s: State): readonly Awaiting[] {
  const { quarantine, status } = s.lifetime;
  const asked = openDecisions(s).map((decision) => ofDecision(s, decision));
  const { exhausted } = s.budget;
  if (s.retention.going !== null) return [];
  if (status === 'stopped') return [...asked, ...standingNotices(s).map(ofNotice)];
  return [
    ...asked,
    ...(quarantine === null ? [] : [ofQuarantine(s, quarantine)]),
    ...(exhausted === null ? [] : [ofBudget(s, exhausted)]),
    // Whoever resumes for another reason keeps what a kernel holds, too.
    ...standingNotices(s)
      .filter(({ about }) => about !== 'kernel' || (quarantine === null && exhausted === null))
      .map(ofNotice),
  ];
}

function ofDecision(s: State, decision: Decision): Awaiting {
  const { id, about, effect: effectId, question, why, choices, digest, expiresAt, requestedAt } = decision;
  const effect = effectId === null ? undefined : findEffect(s, effectId);
  return {
    ...{ id, about, effect: effectId, question, why, choices, digest, expiresAt },
    evidence: evidenceOf(s, decision),
    since: requestedAt,
    answers: decision.options.map((answer) => ({ answer, brings: consequence(about, answer) })),
    action:
      about === 'approval' && effect ? { tool: effect.tool, target: effect.target, args: effect.args } : null,
  };
}

function evidenceOf(s: State, { effect: id, about }: Decision): readonly string[] {
  const effect = id === null ? undefined : findEffect(s, id);
  if (!effect) return [];
  const { capability, dispatch, attempts, unknownReason, queries, strays, policy } = effect;
  const rule = `rule "${policy.rule}": ${policy.verdict}`;
  if (about === 'approval') return [rule, `its service is ${capability.kind}`, 'it was never sent'];
  const sent =
    dispatch === null
      ? 'it was never sent'
      : `sent ${attempts === 1 ? 'once' : `${attempts} times`}, last at ${new Date(dispatch.at).toISOString()} under epoch ${dispatch.epoch}`;
  return [
    sent,
    unknownReason ?? 'no answer was saved before its worker was lost',
    `its service is ${capability.kind}`,
    ...(queries === 0 ? [] : [`the service was asked ${queries} times without a clear answer`]),
    ...(strays.length === 0
      ? []
      : [`sendings ${strays.join(', ')} had happened, as answers said that came late`]),
  ];
}

function consequence(about: DecisionSubject, answer: DecisionAnswer): string {
  switch (answer) {
    case 'approve':
      return 'it is sent, exactly so';
    case 'reject':
      return about === 'approval'
        ? 'it is not sent, and whoever asked for it is told why'
        : 'it counts as not done, and is not sent again';
    case 'done':
      return 'it counts as done, and is not sent again';
    case 'not-done':
      return 'it counts as not done, and is sent now';
    case 'answer':
      return 'the text goes to whoever asked, and the work goes on';
    default:
      return unreachable(answer);
  }
}

/** What is answered by going on. */
const RESUMING = {
  ...{ id: 'resume', effect: null, choices: [], action: null, digest: null, expiresAt: null },
};

const ofQuarantine = (s: State, quarantine: string): Awaiting => ({
  ...RESUMING,
  about: 'quarantine',
  question: 'Shall this session go on? Workers died over it again and again.',
  why: quarantine,
  evidence: [`${s.lifetime.crashes} workers in a row, the last under epoch ${s.lifetime.epoch}`],
  since: s.activeAt,
  answers: [{ answer: 'resume', brings: 'it is tried again from where it stands' }],
});

const ofBudget = (s: State, exhausted: Exhaustion): Awaiting => ({
  ...RESUMING,
  about: 'budget',
  question: 'Shall it go on? It rests on a budget.',
  why: exhaustionInWords(exhausted),
  evidence: [`spent so far: ${spentInWords(s.budget.spent)}`],
  since: s.activeAt,
  answers: [{ answer: 'resume', brings: 'it tries again from that very step; raise the budget before' }],
});

function ofNotice(notice: Notice): Awaiting {
  const { about, since, until } = notice;
  const when = new Date(until).toISOString();
  const standing = { ...RESUMING, about: 'notice' as const, since, expiresAt: until };
  switch (about) {
    case 'kernel': {
      const { unsaved } = notice;
      return {
        ...standing,
        question: `Python objects of this session are given up at ${when}: ${unsaved.map(({ name }) => name).join(', ')}. Shall they stay?`,
        why: "its kernel is to be parked by the owner's policy, and they cannot be kept by value",
        evidence: unsaved.map(
          ({ name, type, effect, why }) => `${name} (${type}, made by ${effect}): ${why}`,
        ),
        answers: [
          {
            answer: 'resume',
            brings: 'they stay until it has rested as long again; any message does the same',
          },
        ],
      };
    }
    case 'retention': {
      const rested = new Date(since).toISOString();
      return {
        ...standing,
        question: `This session is deleted at ${when}, with all it has. Shall it be kept?`,
        why: "its owner's policy deletes what nobody has come back to",
        evidence: [`it has rested since ${rested}`],
        since: notice.at,
        answers: [
          {
            answer: 'resume',
            brings: 'it is kept until it has rested as long again; any message does the same',
          },
        ],
      };
    }
    default:
      return unreachable(about);
  }
}
