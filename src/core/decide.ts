/**
 * Commands of people and programs, decided against the folded state: events to append, or a refusal with a code.
 * Pure. Every command here is an input: it needs no lease and is decided again when the head has moved.
 */

import { given } from '../lib/given.ts';
import { oneLine } from '../lib/text.ts';
import { type BudgetChange, type Budgets, changed, NO_BUDGETS, WHATS } from './budget.ts';
import type { Profile } from './conversation-event.ts';
import { OutlastError } from './error.ts';
import type { DecisionAnswer, EventBody, EventOf, Limits } from './event.ts';
import { descendants, type Told } from './family.ts';
import type { Parent } from './family-event.ts';
import type { FileRef } from './file.ts';
import { isGone, refuseGone } from './gone.ts';
import { type DecisionId, type MessageId, mint, type Owner, type SessionId } from './ids.ts';
import type { Receipt, When } from './message.ts';
import { phase } from './phase.ts';
import { restsAt } from './residency.ts';
import { whyNotSettled } from './retention.ts';
import { newsOf } from './slices/family.ts';
import { digestOf } from './slices/inbox.ts';
import { standingNotice } from './slices/kernel.ts';
import { isFollowUp } from './slices/residence.ts';
import { standingRetention } from './slices/retention.ts';
import { needsSlot } from './slot.ts';
import { type Decision, findEffect, openDecisions, type State } from './state.ts';

export interface Contract {
  readonly owner: Owner;
  readonly persist: boolean;
  readonly message: string;
  readonly images?: readonly FileRef[];
  readonly title?: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly limits: Limits;
  readonly seed: number;
  readonly budget?: Budgets;
  /** Of a child. */
  readonly parent?: Parent;
  /** Of what is no task. */
  readonly profile?: Profile;
  /** Of the first message. */
  readonly key?: string | null;
}

const MESSAGE_MAX = 200_000;

export function start(contract: Contract): readonly EventBody[] {
  const { message, images = [], title, budget = NO_BUDGETS, key = null, ...rest } = contract;
  checkLimits(budget.turn, budget.session);
  checkText(message);
  return [
    {
      kind: 'session.started',
      ...{ ...rest, budget, objective: message, title: title ?? oneLine(message, 60) },
    },
    {
      kind: 'message.accepted',
      message: 'm1' as MessageId,
      key,
      text: message,
      images,
      when: 'next',
      rule: 'starts turn 1',
    },
  ];
}

/** A session that shares the log of another one up to `s`, decided on that state; `lineage` is the original's. */
export function fork(
  s: State,
  origin: { readonly from: SessionId; readonly lineage: SessionId },
  { title, by, ...rest }: ForkTerms,
): readonly EventBody[] {
  refuseForeign(s);
  const kept = title ?? oneLine(`${s.contract.title} (fork at ${s.head})`, 200);
  return [{ kind: 'session.forked', ...origin, head: s.head, title: kept, by, ...rest }];
}

interface ForkTerms {
  readonly title: string | undefined;
  readonly by: string;
  /** Of a child that begins as a fork of its parent. */
  readonly parent?: Parent;
  readonly budget?: Budgets;
}

export type Sent =
  | { readonly repeated: Receipt }
  | (Omit<Receipt, 'seq'> & { readonly events: readonly EventBody[] });

/** `send`: one call for every state. A key that was used is answered with its first receipt. */
export function send(
  s: State,
  text: string,
  options: { key: string | null; when: When; images?: readonly FileRef[] },
): Sent {
  const { key, when, images = [] } = options;
  checkText(text);
  const first = key !== null && Object.hasOwn(s.inbox.receipts, key) ? s.inbox.receipts[key] : undefined;
  if (first) {
    if (first.digest !== digestOf({ text, images, when })) {
      throw new OutlastError('key.conflict', `The key was used before with another message.`, {
        next: 'use a new key for a new message',
      });
    }
    const { digest: _, ...repeated } = first;
    return { repeated };
  }
  refuseForeign(s);
  if (s.lifetime.status === 'stopped' || s.lifetime.status === 'stopping') {
    throw new OutlastError('session.stopped', 'This session was stopped; it reads no messages.', {
      next: 'reopen it, then send again: outlast reopen ID',
    });
  }
  const message = mint.message(s.counters);
  const receipt = {
    message,
    rule: ruleOf(s, when),
    // What has neither heap nor files has nothing that had to be brought back.
    ...given({ woke: isFollowUp(s) ? (holdsAny(s) ? restsAt(s) : 'resident') : undefined }),
  };
  return { ...receipt, events: [{ kind: 'message.accepted', key, text, images, when, ...receipt }] };
}

const holdsAny = ({ heap, workspace }: State): boolean => heap.chain !== null || workspace.tree !== null;

/** The rule that applies to a message accepted in this state, in words. */
export function ruleOf(s: State, when: When): string {
  const held = s.lifetime.quarantine !== null || s.lifetime.status === 'paused';
  const rests = s.budget.exhausted !== null ? 'waits until its budget is raised, then ' : '';
  const queued = s.lifetime.status === 'queued' && needsSlot(s, s.at) ? 'waits for a slot, then ' : rests;
  const prefix = held ? 'waits until the session is resumed, then ' : queued;
  const following = `starts turn ${(s.turn?.number ?? s.turns) + 1}`;
  if (!s.turn) {
    const reopens = phase(s) === 'completed' ? 'reopens, ' : '';
    return `${prefix}${reopens}${following}`;
  }
  if (when === 'later') return `${prefix}${following} after the response`;
  const decision = openDecisions(s)[0];
  if (phase(s) === 'awaiting_decision' && decision) {
    return when === 'now'
      ? `joins turn ${s.turn.number} at once, with decision ${decision.id} still open`
      : `waits for decision ${decision.id}, then joins turn ${s.turn.number}`;
  }
  if (when === 'now' && s.turn.step.phase === 'generating' && rests === '') {
    return `${prefix}joins turn ${s.turn.number} at once: the generation starts again`;
  }
  return `${prefix}joins turn ${s.turn.number} at its next step, or ${following} if this step is its last`;
}

/** The files that are to stand in the workspace from here on; the holder makes it so. */
export function setFiles(
  s: State,
  wanted: Omit<EventOf<'workspace.set'>, 'kind' | 'seq' | 'at'>,
): readonly EventBody[] {
  refuseStopped(s);
  return [{ kind: 'workspace.set', ...wanted }];
}

export function pause(s: State, by: string): readonly EventBody[] {
  refuseStopped(s);
  return s.lifetime.status === 'paused' ? [] : [{ kind: 'session.paused', by }];
}

export function resume(s: State, by: string): readonly EventBody[] {
  refuseForeign(s);
  // Before it is deleted: what comes in keeps it, and what was stopped stays so.
  if (standingRetention(s) !== null) return [{ kind: 'session.resumed', by }];
  refuseStopped(s);
  const { lifetime, budget } = s;
  const rests = lifetime.status === 'paused' || lifetime.quarantine !== null || budget.exhausted !== null;
  // Before a kernel is given up: what comes in keeps it.
  return rests || standingNotice(s) !== null ? [{ kind: 'session.resumed', by }] : [];
}

export interface BudgetChanges {
  readonly turn?: BudgetChange;
  readonly session?: BudgetChange;
}

/** New limits, in every state. A turn that rests on a budget tries again, also when nothing has changed. */
export function setBudget(s: State, changes: BudgetChanges, by: string): readonly EventBody[] {
  refuseForeign(s);
  const { limits, exhausted } = s.budget;
  const turn = changed(limits.turn, changes.turn ?? {});
  const session = changed(limits.session, changes.session ?? {});
  checkLimits(turn, session);
  const isSame = WHATS.every(
    (what) => turn[what] === limits.turn[what] && session[what] === limits.session[what],
  );
  return isSame && exhausted === null ? [] : [{ kind: 'budget.set', turn, session, by }];
}

/** Throws `budget.invalid` unless each limit is a whole number from 0 up. */
export function checkLimits(...budgets: readonly BudgetChange[]): void {
  const isWrong = (limit: number | null | undefined): boolean =>
    limit !== undefined && limit !== null && !(Number.isSafeInteger(limit) && limit >= 0);
  if (!budgets.some((budget) => Object.values(budget).some(isWrong))) return;
  throw new OutlastError(
    'budget.invalid',
    'A limit is a whole number from 0 up; money is in micro-dollars.',
    {
      next: 'one dollar is { microUsd: 1_000_000 }; on the command line usd=1',
    },
  );
}

export function interrupt(s: State, by: string): readonly EventBody[] {
  refuseStopped(s);
  if (!s.turn) {
    throw new OutlastError('turn.none', 'No turn is running; there is nothing to interrupt.', {
      next: 'send a message to start one',
    });
  }
  return [{ kind: 'turn.interrupted', turn: s.turn.number, by }];
}

export function stop(s: State, by: string): readonly EventBody[] {
  refuseForeign(s);
  return s.lifetime.status === 'stopped' || s.lifetime.status === 'stopping'
    ? []
    : [{ kind: 'session.stopping', by }];
}

export function reopen(s: State, by: string): readonly EventBody[] {
  refuseForeign(s);
  if (s.lifetime.status === 'stopped') return [{ kind: 'session.reopened', by }];
  if (s.lifetime.status === 'stopping') {
    throw new OutlastError('session.not_stopped', 'This session is still stopping.', {
      next: 'wait, then reopen',
    });
  }
  return [];
}

/** Only of what is over and settled; ordered again it changes nothing. */
export function remove(s: State, by: string): readonly EventBody[] {
  if (isGone(s)) return [];
  refuseForeign(s);
  const standing = phase(s);
  const isOver = standing === 'stopped' || (standing === 'completed' && s.family.parent === null);
  if (!isOver) {
    throw new OutlastError('session.not_stopped', `This session is not over: it is ${standing}.`, {
      next: 'stop it, then delete it: outlast stop ID',
    });
  }
  const open = whyNotSettled(s);
  if (open !== null)
    throw new OutlastError('session.unsettled', `Not everything of it is settled: ${open.what}.`, open);
  return [{ kind: 'session.deleting', by }];
}

/** The same for a session whose parent goes, once it is at rest. Until then nothing happens to it. */
export function removeBelow(s: State, by: SessionId): readonly EventBody[] {
  const standing = phase(s);
  const rests = standing === 'stopped' || standing === 'completed' || standing === 'awaiting_input';
  const isDue = !isGone(s) && rests && s.foreign.length === 0 && whyNotSettled(s) === null;
  return isDue ? [{ kind: 'session.deleting', by }] : [];
}

/** What a child tells; what is known already changes nothing. In every state: what has come to be is taken in. */
export function hear(s: State, told: Told): readonly EventBody[] {
  if (isGone(s)) return [];
  refuseForeign(s);
  const news = newsOf(s, told);
  return news === null ? [] : [{ kind: 'child.reported', ...news }];
}

/** Another session below this one, the root of its tree. Counted again it counts once. */
export function countDescendant(s: State, child: SessionId): readonly EventBody[] {
  refuseStopped(s);
  if (s.family.descendants.includes(child)) return [];
  const full = noRoom(s);
  if (full) throw full;
  return [{ kind: 'descendant.counted', child }];
}

/** Why no further session may come below this root; null when one may. */
export function noRoom(s: State): OutlastError | null {
  const { childrenTotal } = s.contract.limits;
  if (descendants(s) < childrenTotal) return null;
  return new OutlastError(
    'children.total',
    `All ${childrenTotal} sessions that may come of this one have been started.`,
    { next: 'do it yourself, or go on with a child that is there' },
  );
}

export interface Choice {
  readonly answer: DecisionAnswer;
  readonly text: string;
  readonly by: string;
  /** The action that whoever decides has seen; a decision about another one is refused. */
  readonly digest?: string | undefined;
  /** Where a conversation decides for a person: their message, and their words in it. */
  readonly mandate?: NonNullable<EventOf<'decision.made'>['mandate']>;
}

/** The first answer stands, and what comes too late is refused, also where nobody has noticed the hour yet. */
export function answer(
  s: State,
  id: string,
  { digest, ...choice }: Choice,
  now: number,
): readonly EventBody[] {
  refuseForeign(s);
  const decision = s.decisions.find((candidate) => candidate.id === id);
  if (!decision) {
    throw new OutlastError('decision.unknown', `There is no decision ${oneLine(id, 40)} in this session.`, {
      next: 'see what is open: outlast inspect ID',
    });
  }
  if (digest !== undefined && digest !== decision.digest) {
    throw new OutlastError(
      'decision.stale',
      `${id} is not about the action with the digest ${oneLine(digest, 80)}.`,
      {
        next: 'look again at what it is about: outlast inspect ID',
      },
    );
  }
  if (decision.made) {
    const { answer: given, by, text } = decision.made;
    // What goes with a choice is a remark; of an answer it is all there is.
    const isSame = given === choice.answer && (given !== 'answer' || text === choice.text);
    if (isSame && by === choice.by) return [];
    const said = given === 'answer' ? `: ${oneLine(text, 80)}` : '';
    throw new OutlastError('decision.closed', `${id} was decided already: ${given}, by ${by}${said}.`, {
      next: 'nothing to do; the first decision stands',
    });
  }
  if (decision.moot) {
    throw new OutlastError('decision.closed', `${id} needs no answer any more: ${whyMoot(s, decision)}`, {
      next: 'look at the ledger: outlast inspect ID',
    });
  }
  const { expiresAt } = decision;
  if (expiresAt !== null && (decision.expired || now >= expiresAt)) {
    const instant = new Date(expiresAt).toISOString();
    const nothing = decision.about === 'approval' ? ' Nothing was sent.' : '';
    throw new OutlastError('decision.expired', `${id} could be answered until ${instant}.${nothing}`, {
      next: 'ask for it again, if it is still wanted: outlast send ID "…"',
    });
  }
  if (!decision.options.includes(choice.answer)) {
    throw new OutlastError('decision.invalid', `${id} takes one of: ${decision.options.join(', ')}.`, {
      next: 'decide with one of these',
    });
  }
  if (choice.answer === 'answer') checkAnswer(id, decision.choices, choice.text);
  return [{ kind: 'decision.made', decision: id as DecisionId, ...choice }];
}

function whyMoot(s: State, { effect: id, about }: Decision): string {
  if (id === null) return 'whoever asked does not wait for it.';
  const effect = findEffect(s, id);
  if (effect?.status === 'left') return 'it was left with the original of this fork, and is answered there.';
  if (about === 'unknown') return 'the effect was settled by evidence.';
  const outcome = effect?.outcome;
  return outcome?.status === 'failed' ? outcome.message : 'the effect is settled.';
}

function checkAnswer(id: string, choices: readonly string[], text: string): void {
  if (text.trim() === '') {
    throw new OutlastError('decision.invalid', `An answer to ${id} needs its text.`, {
      next: 'say it: outlast decide SESSION DECISION answer "…"',
    });
  }
  if (text.length > MESSAGE_MAX) {
    throw new OutlastError('decision.invalid', `An answer has at most ${MESSAGE_MAX} characters.`, {
      next: 'say it in fewer words',
    });
  }
  if (choices.length > 0 && !choices.includes(text)) {
    throw new OutlastError('decision.invalid', `${id} takes one of these answers: ${choices.join(', ')}.`, {
      next: 'answer with one of them, word for word',
    });
  }
}

function checkText(text: string): void {
  if (text.trim() === '')
    throw new OutlastError('message.invalid', 'The message is empty.', { next: 'say something' });
  if (text.length > MESSAGE_MAX) {
    throw new OutlastError('message.invalid', `A message has at most ${MESSAGE_MAX} characters.`, {
      next: 'put the long part into a file or a service the task can read',
    });
  }
}

function refuseStopped(s: State): void {
  refuseForeign(s);
  if (s.lifetime.status === 'stopped' || s.lifetime.status === 'stopping') {
    throw new OutlastError('session.stopped', 'This session was stopped.', {
      next: 'reopen it: outlast reopen ID',
    });
  }
}

function refuseForeign(s: State): void {
  refuseGone(s);
  const foreign = s.foreign[0];
  if (!foreign) return;
  throw new OutlastError(
    'session.newer_version',
    `A newer version wrote ${foreign.kind} at ${foreign.seq}. This version can show the session and not run it.`,
    { next: 'use the newer version' },
  );
}
