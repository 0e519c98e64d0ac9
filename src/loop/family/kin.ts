/**
 * What goes from one session to another of its tree: an order, a result, a stop. Each is an input of the other one's log,
 * under an id or a key that follows from the log of the sender, so that it may be sent again after any crash.
 *
 * F1  A child's id follows from the effect that spawns it: spawned again, it is found.
 * F2  Whoever comes first has the id. A stop that comes before the child leaves one in its place that never acts.
 * F3  A call changes of its family what its plan has said, and nothing else; it decides only with the mandate of a person
 *     that stands in the ledger (core/conversation/mandate).
 */

import type { Budget } from '../../core/budget/budget.ts';
import { setBudget } from '../../core/budget/decide.ts';
import { mandateOf } from '../../core/conversation/mandate.ts';
import { isConversation, nounOf } from '../../core/conversation/state.ts';
import * as decide from '../../core/decide.ts';
import { OutlastError } from '../../core/error.ts';
import type { EventBody } from '../../core/event.ts';
import { initialState } from '../../core/evolve.ts';
import { countDescendant, hear } from '../../core/family/decide.ts';
import type { FamilyUse, Parent, Wanted } from '../../core/family/event.ts';
import { depthOf, isAtWork, isTop, reaching, standing } from '../../core/family/state.ts';
import { type EffectId, type SessionId, sessionId } from '../../core/ids.ts';
import { DEFAULT_LIMITS } from '../../core/limits.ts';
import { phase } from '../../core/phase.ts';
import { findEffect, type State } from '../../core/state.ts';
import { encode } from '../../core/upcast.ts';
import { sha256 } from '../../lib/digest.ts';
import { given } from '../../lib/given.ts';
import { oneLine } from '../../lib/text.ts';
import { summarize } from '../../projections/summary.ts';
import type { Commit } from '../../store/port.ts';
import type { Kin, Listed, Ordered, SpawnRequest } from '../../tools/port.ts';
import { ask } from '../ask.ts';
import { copyFiles, forking } from '../fork.ts';
import { type Appended, appendInput, stamp } from '../input.ts';
import { Log } from '../log.ts';
import type { Ports } from '../ports.ts';

export interface KinContext {
  readonly session: SessionId;
  readonly ports: Ports;
  /** Has a session looked at soon. */
  readonly wake: (session: SessionId) => void;
}

/** Of more, the newest are named. */
const NAMED = 12;

/** F1. */
export const childOf = (session: SessionId, effect: EffectId): SessionId =>
  sessionId(sha256(`${session}.${effect}`).slice(0, 24));

/** The children of a session in the hand of one of its calls. */
export function kinOf(s: State, effect: EffectId, by: KinContext): Kin {
  const childCalled = (id: string) => {
    const child = s.family.children.find((one) => one.id === id);
    if (child) return child;
    const known = s.family.children.slice(-NAMED).map((one) => `${one.id} (${oneLine(one.title, 40)})`);
    throw new OutlastError(
      'children.unknown',
      `There is no ${nounOf(s).toLowerCase()} "${oneLine(id, 40)}".`,
      {
        next: known.length === 0 ? 'none was started' : `the newest are: ${known.join(', ')}`,
      },
    );
  };
  const self = findEffect(s, effect);
  const checkUse = (use: FamilyUse): void => {
    if (self?.family === use) return;
    throw new OutlastError('tool.invalid', `The plan of ${effect} did not say that it ${use}: it may not.`, {
      next: 'a tool says in its plan what it does with children (`family`)',
    });
  };
  return {
    async spawn(request) {
      checkUse('spawns');
      return spawn(s, effect, request, by);
    },
    async instruct(id, message, share) {
      checkUse('instructs');
      const { id: child, standing: known } = childCalled(id);
      const limit = reaching(known?.spent, share);
      return instruct(child, message, limit, keyOf(effect, by), by);
    },
    async decide(id, decision, { answer, text }) {
      checkUse('decides');
      const question = s.family.children
        .flatMap(({ standing: of }) => of?.questions ?? [])
        .find((one) => one.session === id && one.decision === decision);
      if (!question)
        throw new OutlastError('decision.unknown', `Nobody waits for ${oneLine(decision, 40)} any more.`);
      const found = mandateOf(s, self, { task: id, decision, answer });
      if ('refused' in found) throw new OutlastError('decision.invalid', found.refused.message);
      const { message, words, digest } = found;
      const given = { session: by.session, message, words };
      const choice = { answer, text, by: s.contract.owner, mandate: given, digest: digest ?? undefined };
      await tell(question.session, (c, now) => decide.answer(c, decision, choice, now), by);
      return { decided: `${decision}: ${answer}` };
    },
    async ask(id, question, signal) {
      const { id: child } = childCalled(id);
      return (await ask(child, await stateOf(child, by.ports), question, by.ports, signal)).answer;
    },
    async list() {
      const rows = s.family.children.map(async ({ id: child, title, last }): Promise<Listed> => {
        const row = await by.ports.store.row(child);
        return { child, title, phase: row?.phase ?? 'unknown', said: last && oneLine(last.text, 200) };
      });
      return (await Promise.all(rows)).reverse();
    },
    async stop(id) {
      checkUse('stops');
      const child = childCalled(id);
      await tell(child.id, (c) => decide.stop(c, by.session), by);
      return { child: child.id, wasAtWork: isAtWork(child) };
    },
  };
}

/** To the parent: the first result that is due, and how the session stands. */
export async function reportToParent(s: State, result: number, by: KinContext): Promise<void> {
  const { parent, due } = s.family;
  if (parent === null || (await by.ports.store.row(parent.session)) === null) return;
  const told = {
    child: by.session,
    result: due.find(({ seq }) => seq === result) ?? null,
    standing: standing(s, by.session),
  };
  await tell(parent.session, (p) => hear(p, told), by);
}

/** Down the tree, to the child of this effect. */
export async function relay(s: State, effect: EffectId, status: Wanted, by: KinContext): Promise<void> {
  const child = childOf(by.session, effect);
  if ((await by.ports.store.row(child)) === null) {
    if (status !== 'stopped' || (await bar(s, effect, child, by))) return;
  }
  const commands = { paused: decide.pause, open: decide.resume, stopped: decide.stop };
  await tell(child, (c) => unlessOver(c, () => commands[status](c, by.session)), by);
}

// ── orders ─────────────────────────────────────────────────────────────────────────────────────────────────

const keyOf = (effect: EffectId, { session }: KinContext): string => `${session}.${effect}`;

async function spawn(s: State, effect: EffectId, request: SpawnRequest, by: KinContext): Promise<Ordered> {
  const { session, ports } = by;
  const child = childOf(session, effect);
  const key = keyOf(effect, by);
  if ((await ports.store.row(child)) === null) {
    const parent = parentOf(s, effect, session);
    if (parent.root !== session && parent.root !== child)
      await tell(parent.root, (root) => countDescendant(root, child), by);
    const commit = request.fork
      ? await asFork(s, child, request, parent, key, by)
      : asNew(s, child, request, parent, key, by);
    const { status } = await ports.store.commit(commit);
    if (status === 'committed') by.wake(child);
  }
  const receipt = (await stateOf(child, ports)).inbox.receipts[key];
  if (!receipt) throw stoppedBefore();
  return { child, message: receipt.message, rule: receipt.rule };
}

function parentOf(s: State, effect: EffectId, session: SessionId): Parent {
  // Each task of a conversation is the top of a tree of its own, bounded like any other.
  if (isConversation(s)) return { session, effect, depth: 0, root: childOf(session, effect) };
  const root = isTop(s) ? session : (s.family.parent?.root ?? session);
  return { session, effect, depth: depthOf(s) + 1, root };
}

function asNew(
  s: State,
  child: SessionId,
  { task, title, persist, share }: SpawnRequest,
  parent: Parent,
  key: string,
  { ports }: KinContext,
): Commit {
  const bodies = decide.start({
    ...{ ...termsOf(s, ports), persist, title, parent, key },
    message: task,
    seed: ports.entropy.seed(),
    budget: { turn: {}, session: share },
  });
  return creating(child, bodies, ports);
}

/** A child has the terms of its parent; a task of a conversation those of any session. */
function termsOf({ contract }: State, { tools: offered, conversation }: Ports) {
  const { owner, model, tools, limits } = contract;
  const rates = given({ rates: contract.rates });
  if (contract.profile === undefined) return { owner, model, tools, limits, ...rates };
  return { owner, model, ...rates, tools: offered.names, limits: conversation?.taskLimits ?? DEFAULT_LIMITS };
}

async function asFork(
  s: State,
  child: SessionId,
  { task, title, share }: SpawnRequest,
  parent: Parent,
  key: string,
  { session, ports }: KinContext,
): Promise<Commit> {
  const origin = { session, state: s };
  const { commit, state } = await forking(
    child,
    origin,
    { at: s.head, title, message: task },
    { by: session, parent, budget: { turn: {}, session: share }, messageKey: key },
    ports,
  );
  await copyFiles(child, state, origin, ports);
  return commit;
}

/** Tells a child something; one that was stopped by its parent goes on, and one that rests on a budget tries again. */
async function instruct(
  child: SessionId,
  message: string,
  limit: Budget,
  key: string,
  by: KinContext,
): Promise<Ordered> {
  await tell(
    child,
    (c) => {
      if (Object.hasOwn(c.inbox.receipts, key)) return [];
      refuseHeld(c, child, by.session);
      const opened = c.lifetime.status === 'stopped' ? decide.reopen(c, by.session) : [];
      const open = opened.length === 0 ? c : stamp(c, opened, c.at).state;
      const raised = setBudget(open, { session: limit }, by.session);
      const sent = decide.send(open, message, { key, when: 'next' });
      return 'repeated' in sent ? [] : [...opened, ...raised, ...sent.events];
    },
    by,
  );
  const receipt = (await stateOf(child, by.ports)).inbox.receipts[key];
  if (!receipt) throw stoppedBefore();
  return { child, message: receipt.message, rule: receipt.rule };
}

/** What a person has ended or has to look at is not gone on with behind their back. */
function refuseHeld(
  { lifetime: { status, stoppedBy, quarantine } }: State,
  child: SessionId,
  by: SessionId,
): void {
  const isStopped = status === 'stopped' || status === 'stopping';
  if (isStopped && stoppedBy !== by) {
    throw new OutlastError('session.stopped', `${child} was stopped by ${stoppedBy}, and not by you.`, {
      next: 'Go on without it; only whoever stopped it opens it again',
    });
  }
  if (status === 'stopping') {
    throw new OutlastError('session.not_stopped', `${child} is still stopping.`, { next: 'Try again later' });
  }
  if (quarantine !== null) {
    throw new OutlastError('session.quarantined', `${child} was taken out of the way: ${quarantine}`, {
      next: 'Go on without it until a person has looked at it',
    });
  }
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

/** F2. Whether the place of the child was free. */
async function bar(s: State, effect: EffectId, child: SessionId, by: KinContext): Promise<boolean> {
  const parent = parentOf(s, effect, by.session);
  const [started] = decide.start({
    ...{ ...termsOf(s, by.ports), persist: false, parent, seed: 0 },
    message: 'Stopped before it began.',
  });
  const bodies = [...(started ? [started] : []), { kind: 'session.stopping' as const, by: by.session }];
  const { status } = await by.ports.store.commit(creating(child, bodies, by.ports));
  if (status === 'committed') by.wake(child);
  return status === 'committed';
}

function creating(session: SessionId, bodies: readonly EventBody[], { clock }: Ports): Commit {
  const now = clock.now();
  const { state, events } = stamp(initialState, bodies, now);
  return {
    ...{ session, head: 0, epoch: null, blobs: [] },
    events: events.map(encode),
    summary: summarize(state, now),
  };
}

async function tell(
  session: SessionId,
  command: (s: State, now: number) => readonly EventBody[],
  { ports, wake }: KinContext,
): Promise<Appended> {
  const appended = await appendInput(session, ports, undefined, command);
  if (appended.events.length > 0) wake(session);
  return appended;
}

const OVER: ReadonlySet<string> = new Set(['stopped', 'stopping', 'deleting', 'deleted']);

/** What is over needs no word more. */
function unlessOver(c: State, command: () => readonly EventBody[]): readonly EventBody[] {
  const standing = phase(c);
  return OVER.has(standing) ? [] : command();
}

async function stateOf(session: SessionId, ports: Ports): Promise<State> {
  const log = new Log(session, ports);
  await log.catchUp();
  return log.state;
}

const stoppedBefore = (): OutlastError =>
  new OutlastError('session.stopped', 'It was stopped before it could begin.', { next: 'start another one' });
