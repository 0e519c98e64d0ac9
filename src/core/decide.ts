/**
 * Commands of people and programs, decided against the folded state: events to append, or a refusal with a code.
 * Pure. Every command here is an input: it needs no lease and is decided again when the head has moved.
 */

import { given } from '../lib/given.ts';
import { oneLine } from '../lib/text.ts';
import { type Budgets, NO_BUDGETS } from './budget/budget.ts';
import { checkLimits } from './budget/decide.ts';
import type { Rates } from './budget/rates.ts';
import type { Profile } from './conversation/event.ts';
import { refusal } from './error.ts';
import type { DecisionAnswer, EventBody, EventOf } from './event.ts';
import type { Parent } from './family/event.ts';
import type { FileRef } from './file.ts';
import { type DecisionId, type MessageId, mint, type Owner, type SessionId } from './ids.ts';
import { digestOf } from './inbox.ts';
import { refuseForeign, refuseStopped } from './lifetime.ts';
import type { Limits } from './limits.ts';
import type { Receipt, When } from './message.ts';
import { phase } from './phase.ts';
import { isFollowUp } from './residency/evolve.ts';
import { standingNotices } from './residency/notice.ts';
import { restsAt } from './residency/policy.ts';
import { isGone } from './retention/gone.ts';
import { whyNotSettled } from './retention/next.ts';
import { standingRetention } from './retention/state.ts';
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
  readonly rates?: Rates;
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
      throw refusal(
        'key.conflict',
        `The key was used before with another message.`,
        'use a new key for a new message',
      );
    }
    const { digest: _, ...repeated } = first;
    return { repeated };
  }
  refuseForeign(s);
  if (s.lifetime.status === 'stopped' || s.lifetime.status === 'stopping') {
    throw refusal(
      'session.stopped',
      'This session was stopped; it reads no messages.',
      'reopen it, then send again: outlast reopen ID',
    );
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
  // Before something is given up: what comes in keeps it.
  return rests || standingNotices(s).length > 0 ? [{ kind: 'session.resumed', by }] : [];
}

export function interrupt(s: State, by: string): readonly EventBody[] {
  refuseStopped(s);
  if (!s.turn) {
    throw refusal(
      'turn.none',
      'No turn is running; there is nothing to interrupt.',
      'send a message to start one',
    );
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
    throw refusal('session.not_stopped', 'This session is still stopping.', 'wait, then reopen');
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
    throw refusal(
      'session.not_stopped',
      `This session is not over: it is ${standing}.`,
      'stop it, then delete it: outlast stop ID',
    );
  }
  const open = whyNotSettled(s);
  if (open !== null)
    throw refusal('session.unsettled', `Not everything of it is settled: ${open.what}.`, open.next);
  return [{ kind: 'session.deleting', by }];
}

/** The same for a session whose parent goes, once it is at rest. Until then nothing happens to it. */
export function removeBelow(s: State, by: SessionId): readonly EventBody[] {
  const standing = phase(s);
  const rests = standing === 'stopped' || standing === 'completed' || standing === 'awaiting_input';
  const isDue = !isGone(s) && rests && s.foreign.length === 0 && whyNotSettled(s) === null;
  return isDue ? [{ kind: 'session.deleting', by }] : [];
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
    throw refusal(
      'decision.unknown',
      `There is no decision ${oneLine(id, 40)} in this session.`,
      'see what is open: outlast inspect ID',
    );
  }
  if (digest !== undefined && digest !== decision.digest) {
    throw refusal(
      'decision.stale',
      `${id} is not about the action with the digest ${oneLine(digest, 80)}.`,
      'look again at what it is about: outlast inspect ID',
    );
  }
  if (decision.made) {
    const { answer: given, by, text } = decision.made;
    // What goes with a choice is a remark; of an answer it is all there is.
    const isSame = given === choice.answer && (given !== 'answer' || text === choice.text);
    if (isSame && by === choice.by) return [];
    const said = given === 'answer' ? `: ${oneLine(text, 80)}` : '';
    throw refusal(
      'decision.closed',
      `${id} was decided already: ${given}, by ${by}${said}.`,
      'nothing to do; the first decision stands',
    );
  }
  if (decision.moot) {
    throw refusal(
      'decision.closed',
      `${id} needs no answer any more: ${whyMoot(s, decision)}`,
      'look at the ledger: outlast inspect ID',
    );
  }
  const { expiresAt } = decision;
  if (expiresAt !== null && (decision.expired || now >= expiresAt)) {
    const instant = new Date(expiresAt).toISOString();
    const nothing = decision.about === 'approval' ? ' Nothing was sent.' : '';
    throw refusal(
      'decision.expired',
      `${id} could be answered until ${instant}.${nothing}`,
      'ask for it again, if it is still wanted: outlast send ID "…"',
    );
  }
  if (!decision.options.includes(choice.answer)) {
    throw refusal(
      'decision.invalid',
      `${id} takes one of: ${decision.options.join(', ')}.`,
      'decide with one of these',
    );
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
    throw refusal(
      'decision.invalid',
      `An answer to ${id} needs its text.`,
      'say it: outlast decide SESSION DECISION answer "…"',
    );
  }
  if (text.length > MESSAGE_MAX) {
    throw refusal(
      'decision.invalid',
      `An answer has at most ${MESSAGE_MAX} characters.`,
      'say it in fewer words',
    );
  }
  if (choices.length > 0 && !choices.includes(text)) {
    throw refusal(
      'decision.invalid',
      `${id} takes one of these answers: ${choices.join(', ')}.`,
      'answer with one of them, word for word',
    );
  }
}

function checkText(text: string): void {
  if (text.trim() === '') throw refusal('message.invalid', 'The message is empty.', 'say something');
  if (text.length > MESSAGE_MAX) {
    throw refusal(
      'message.invalid',
      `A message has at most ${MESSAGE_MAX} characters.`,
      'put the long part into a file or a service the task can read',
    );
  }
}
