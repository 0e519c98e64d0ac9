/**
 * Performing: one function for each port call. What came back is returned as a `Performed`; nothing is decided and
 * nothing is durable here.
 */

import { buildRequest } from '../context/build.ts';
import { compactRequest } from '../context/compact.ts';
import { whyNot } from '../core/approval.ts';
import { type Audit, type Finding, type Outcome, writes } from '../core/capability.ts';
import { RECALL } from '../core/effect.ts';
import { OutlastError } from '../core/error.ts';
import type { PortCall } from '../core/flight.ts';
import { lineageOf } from '../core/fork/state.ts';
import type { SessionId } from '../core/ids.ts';
import type { View } from '../core/message.ts';
import { digestOf } from '../core/policy.ts';
import type { Estate } from '../core/retention/event.ts';
import { type Effect, findEffect, type State } from '../core/state.ts';
import { Abort } from '../lib/abort.ts';
import { assert, unreachable } from '../lib/assert.ts';
import { Nudge } from '../lib/clock.ts';
import type { Json } from '../lib/json.ts';
import { ModelError, type ModelReply } from '../models/port.ts';
import type { HeapStep } from '../sandbox/port.ts';
import type { KernelObjects, Parked } from '../sandbox/process/port.ts';
import { NotSent, type RunContext, type Tool } from '../tools/port.ts';
import { type Call, type Metered, metered } from './budget/meter.ts';
import { type Look, lookAtTasks } from './conversation/look.ts';
import { kinOf, relay, reportToParent } from './family/kin.ts';
import { openFile, withFiles } from './files.ts';
import { type Archived, archive } from './heap/archive.ts';
import type { Based, Heaps, Opened } from './heap/heaps.ts';
import { inputOf } from './heap/journal.ts';
import type { Ports } from './ports.ts';
import { recallFor } from './recall/tool.ts';
import { erase, type Surveyed, survey } from './retention/erase.ts';
import { surroundingsOf, toolsOf } from './tools/offer.ts';
import { hand } from './workspace/hand.ts';
import type { CheckedOut, KeptTree, Workspaces } from './workspace/workspaces.ts';

export type Performed =
  | {
      readonly do: 'generate';
      readonly call: Of<'generate'>;
      readonly came: Metered;
      /** What its budget was when it was asked for. */
      readonly budget: State['budget'];
    }
  | { readonly do: 'compact'; readonly call: Of<'compact'>; readonly came: Metered }
  | {
      readonly do: 'call';
      readonly call: Of<'call'>;
      readonly outcome: Outcome | Unsent;
      /** Of a call that may change files; not there for one that came too late for that. */
      readonly files?: Touched | null;
      /** Of a call whose objects live on. */
      readonly objects?: KernelObjects | null;
    }
  | { readonly do: 'attend'; readonly call: Of<'attend'>; readonly objects: KernelObjects | null }
  | {
      readonly do: 'query';
      readonly call: Of<'query'>;
      readonly finding: Finding;
      readonly objects?: KernelObjects | null;
    }
  | { readonly do: 'audit'; readonly call: Of<'audit'>; readonly audit: Audit }
  | { readonly do: 'open'; readonly call: Of<'open'>; readonly opened: Opened }
  | { readonly do: 'move'; readonly call: Of<'run' | 'deliver'>; readonly step: HeapStep }
  | { readonly do: 'base'; readonly call: Of<'base'>; readonly based: Based }
  | {
      readonly do: 'park';
      readonly call: Of<'park'>;
      readonly kernel: Parked | null;
      readonly based: Based | null;
      readonly files: KeptTree | null;
      /** Something came in while people looked on. */
      readonly isKept?: true;
    }
  | {
      readonly do: 'giveUp';
      readonly call: Of<'giveUp'>;
      readonly before: KernelObjects | null;
      readonly objects: KernelObjects | null;
    }
  | { readonly do: 'archive'; readonly call: Of<'archive'>; readonly archived: Archived }
  | { readonly do: 'survey'; readonly call: Of<'survey'>; readonly busy: Surveyed }
  /** Null when it was called off. */
  | { readonly do: 'erase'; readonly call: Of<'erase'>; readonly had: Estate | null }
  | { readonly do: 'checkout'; readonly call: Of<'checkout'>; readonly checkedOut: CheckedOut }
  | { readonly do: 'release'; readonly call: Of<'release'>; readonly files: KeptTree | null }
  | ({ readonly do: 'look'; readonly call: Of<'look'> } & Look)
  | { readonly do: 'report'; readonly call: Of<'report'> }
  | { readonly do: 'relay'; readonly call: Of<'relay'> };

/** What stood in the folder before a call otherwise than it was committed, and what the call has made of it. */
export interface Touched {
  readonly drift: KeptTree | null;
  readonly after: KeptTree | null;
}

/** The request never left this process. */
export interface Unsent {
  readonly status: 'absent';
}

type Of<Do extends PortCall['do']> = Extract<PortCall, { do: Do }>;

export interface Performer {
  readonly session: SessionId;
  readonly ports: Ports;
  readonly heaps: Heaps;
  readonly workspaces: Workspaces;
  /** The lease that this holder acts under, and when it ends on the monotonic clock. */
  readonly epoch: number;
  readonly leaseEnds: () => number;
  /** 1, 2, 3 … under this epoch: no two model calls have the same. */
  readonly number: () => number;
  /** Whether somebody follows this session, as far as this process knows. */
  readonly attended: (session: SessionId) => boolean;
  /** Takes an answer that came after its time limit: its call has been recorded as unknown. */
  readonly late: (performed: Performed) => void;
  /** Has another session looked at soon. */
  readonly wake: (session: SessionId) => void;
}

export async function perform(call: PortCall, s: State, by: Performer, halt: Abort): Promise<Performed> {
  const move = (moved: Parameters<typeof inputOf>[1]['moved']): Promise<HeapStep> =>
    by.heaps.apply(by.session, s, inputOf(s, { moved }), halt.signal);
  switch (call.do) {
    case 'generate':
      return { do: 'generate', call, came: await generate(s, call, by, halt), budget: s.budget };
    case 'compact':
      return { do: 'compact', call, came: await compact(s, call, by, halt) };
    case 'call':
      return { do: 'call', call, ...(await runCall(s, call, by, halt)), ...(await objectsOf(s, call, by)) };
    case 'query':
      return {
        do: 'query',
        call,
        finding: await findOut(s, call, by, halt),
        ...(await objectsOf(s, call, by)),
      };
    case 'audit':
      return { do: 'audit', call, audit: await lookForExtras(s, call, by, halt) };
    case 'open':
      return { do: 'open', call, opened: await by.heaps.open(by.session, s) };
    case 'run':
      return { do: 'move', call, step: await move({ by: 'run' }) };
    case 'deliver':
      return { do: 'move', call, step: await move({ by: 'delivery', guestCall: call.guestCall }) };
    case 'base':
      return { do: 'base', call, based: await by.heaps.base(by.session, s) };
    case 'archive':
      return { do: 'archive', call, archived: await archive(by.session, s, by) };
    case 'survey':
      return { do: 'survey', call, busy: await survey(s, call.until, by) };
    case 'erase':
      return { do: 'erase', call, had: await erase(s, by, halt) };
    case 'park': {
      if (!(await unattended(by, halt)))
        return { do: 'park', call, kernel: null, files: null, based: null, isKept: true };
      const kernel = await parkKernel(by);
      const files = await lastLook(s, by);
      return { do: 'park', call, kernel, files, based: await by.heaps.park(by.session, s) };
    }
    case 'giveUp':
      return { do: 'giveUp', call, ...(await giveUpKernel(by)) };
    case 'checkout':
      return { do: 'checkout', call, checkedOut: await by.workspaces.checkout(by.session, s, by.epoch) };
    case 'attend':
      return { do: 'attend', call, objects: await kernelObjects(by) };
    case 'release':
      await by.ports.processes?.end(by.session);
      await by.heaps.close(by.session);
      return { do: 'release', call, files: await lastLook(s, by) };
    case 'look':
      return { do: 'look', call, ...(await lookAtTasks(s, by.ports)) };
    case 'report':
      await reportToParent(s, call.result, by);
      return { do: 'report', call };
    case 'relay':
      await relay(s, call.effect, call.status, by);
      return { do: 'relay', call };
    case 'plan':
      throw new OutlastError('internal', 'Plans are made in the commit that asks for them.');
    default:
      return unreachable(call);
  }
}

async function generate(s: State, call: Of<'generate'>, by: Performer, halt: Abort): Promise<Metered> {
  const view = buildRequest(s, surroundingsOf(s, by.ports));
  return ask(s, call, view, by, halt, (delta) => by.ports.bell.whisper(by.session, delta));
}

async function compact(s: State, call: Of<'compact'>, by: Performer, halt: Abort): Promise<Metered> {
  const view = compactRequest(s, call.items, surroundingsOf(s, by.ports));
  const about = { turn: s.turns, step: `compact${s.context.past?.times ?? 0}`, attempt: call.attempt };
  return ask(s, about, view, by, halt);
}

/** One call of the model, within its budget and its time limit. */
async function ask(
  s: State,
  about: Call,
  view: View,
  by: Performer,
  halt: Abort,
  onText?: (delta: string) => void,
): Promise<Metered> {
  const { model } = by.ports;
  const where = { session: by.session, lineage: lineageOf(s, by.session) };
  const request = await withFiles(view, (file) => openFile(where, file, by.ports));
  return metered(s, about, request, by, halt, async ({ ms, ...bound }) => {
    const expired = { expired: NO_ANSWER };
    const reply = await withTimeout<ModelReply | ModelError>(ms, by, halt, expired, async (limit) => {
      try {
        return await model.generate(request, {
          signal: limit.signal,
          ...(onText ? { onText } : {}),
          ...bound,
        });
      } catch (error) {
        if (error instanceof ModelError) return error;
        const code = limit.aborted ? 'aborted' : 'failed';
        return new ModelError(code, messageOf(error), { retry: false, cause: error });
      }
    });
    // Our own time limit aborts the call as well, and is no wish of a person.
    const timedOut = reply instanceof ModelError && reply.code === 'aborted' && !halt.aborted;
    return timedOut ? NO_ANSWER : reply;
  });
}

/** What may change files is looked at before, so that what others did is not taken for its doing, and after. */
async function runCall(
  s: State,
  call: Of<'call'>,
  by: Performer,
  halt: Abort,
): Promise<{ outcome: Outcome | Unsent; files: Touched | null }> {
  if (findEffect(s, call.effect)?.files !== 'changes') {
    return { outcome: await runEffect(s, call, by, halt), files: null };
  }
  const drift = await by.workspaces.look(by.session, s);
  const outcome = await runEffect(s, call, by, halt);
  const after = await by.workspaces.look(by.session, s, drift?.tree ?? s.workspace.tree);
  return { outcome, files: { drift, after } };
}

/**
 * Waits until nobody looks on: people who do are about to speak. False when it is called off before. Nothing is written
 * meanwhile, and no slot is held; another worker who does not know of them can park it, and loses nothing by that.
 */
async function unattended({ session, attended, ports }: Performer, halt: Abort): Promise<boolean> {
  while (attended(session) && !halt.aborted) await ports.clock.sleep(ATTENDED_MS, halt.signal);
  return !halt.aborted;
}

/** How soon it is noticed that the last one has gone. */
const ATTENDED_MS = 30_000;

/** With names that cannot be kept it stays where it is: whether they may go is for its owner to say. */
async function parkKernel({ ports, session, epoch }: Performer): Promise<Parked | null> {
  const parking = ports.processes?.park(session, epoch, false);
  return (
    (await parking?.catch((error: unknown) => {
      ports.report(`${session}: its kernel was not parked`, error);
      return null;
    })) ?? null
  );
}

/** Looked at before and after: what was gone before was not given up by anybody. */
async function giveUpKernel(by: Performer): Promise<Record<'before' | 'objects', KernelObjects | null>> {
  const before = await kernelObjects(by);
  await by.ports.processes?.park(by.session, by.epoch, true);
  return { before, objects: await kernelObjects(by) };
}

/** What lives on behind a call. */
async function objectsOf(
  s: State,
  { effect }: Of<'call' | 'query'>,
  by: Performer,
): Promise<{ readonly objects?: KernelObjects | null }> {
  const tool = toolsOf(s, by.ports).get(findEffect(s, effect)?.tool ?? '');
  return tool?.keepsObjects ? { objects: await kernelObjects(by) } : {};
}

const kernelObjects = async ({ ports, session, epoch }: Performer): Promise<KernelObjects | null> =>
  (await ports.processes?.objects(session, epoch)) ?? null;

/** Of a session that never had a file there is nothing to look at. */
const lastLook = async (s: State, by: Performer): Promise<KeptTree | null> =>
  s.workspace.tree === null && s.workspace.parked ? null : by.workspaces.look(by.session, s);

async function runEffect(s: State, call: Of<'call'>, by: Performer, halt: Abort): Promise<Outcome | Unsent> {
  const { effect: id, attempt } = call;
  const effect = findEffect(s, id);
  assert(effect, 'an effect that is called stands in the ledger');
  const unapproved = effect.gate === 'open' ? null : whyNot(s, effect, digestOf(effect));
  assert(unapproved === null, `what is sent may be sent: ${unapproved}`);
  const tool =
    effect.tool === RECALL ? recallFor(by.session, s, by.ports.store) : toolsOf(s, by.ports).get(effect.tool);
  if (!tool) {
    const message = `The tool "${effect.tool}" is not here any more.`;
    const didNothing = !writes(effect.capability) || isFirstWord(effect, attempt);
    return didNothing
      ? { status: 'failed', code: 'tool.gone', message }
      : { status: 'unknown', reason: message };
  }
  // Marked, not written: the lease ran out between the two, so this process may not act any more.
  // Of a repeat that says nothing: the sending before it may still stand.
  if (by.ports.clock.monotonic() >= by.leaseEnds()) {
    return isFirstWord(effect, attempt)
      ? { status: 'absent' }
      : { status: 'unknown', reason: 'the lease ended before it was sent again' };
  }
  // Decided in time, and the mark took so long that the service may have forgotten the key: it would do it again.
  if (attempt > 1 && by.ports.clock.now() >= keyEnds(effect)) {
    return { status: 'unknown', reason: 'its key may be forgotten by now, so it was not sent again' };
  }
  const late = (outcome: Outcome): void => by.late({ do: 'call', call, outcome });
  const limitMs = tool.limitMs?.(effect.args) ?? s.contract.limits.effectTimeoutMs;
  return withTimeout<Outcome>(limitMs, by, halt, { expired: LATE, late }, async (limit) => {
    try {
      return await tool.run(effect.args, contextOf(s, by, effect, attempt, limit));
    } catch (error) {
      if (error instanceof NotSent && isFirstWord(effect, attempt)) {
        return { status: 'failed', code: 'not_sent', message: `Nothing was sent: ${error.message}` };
      }
      const reason = limit.aborted ? 'no answer in time' : messageOf(error);
      return { status: 'unknown', reason };
    }
  });
}

/** Until when its service surely knows the key of the first sending. */
function keyEnds({ capability, firstDispatchAt }: Effect): number {
  return capability.kind === 'keyed' && firstDispatchAt !== null
    ? firstDispatchAt + capability.retentionMs
    : Number.POSITIVE_INFINITY;
}

/** Whether no earlier attempt can still stand: a repeat that was not sent says nothing about the one before it. */
function isFirstWord({ capability, doubtSince }: Effect, attempt: number): boolean {
  switch (capability.kind) {
    case 'read':
      return false;
    case 'keyed':
      return attempt === 1;
    case 'cancelable':
      return doubtSince === null;
    default:
      // Sent again only after the earlier one was found absent.
      return true;
  }
}

const unclear = (reason: string): Finding => ({ status: 'unclear', reason });

const findOut = (s: State, call: Of<'query'>, by: Performer, halt: Abort): Promise<Finding> =>
  look(s, call, by, halt, unclear, (tool, args, context) => tool.find?.(args, context));

const lookForExtras = (s: State, call: Of<'audit'>, by: Performer, halt: Abort): Promise<Audit> => {
  const nothing = (reason: string): Audit => ({ finding: unclear(reason), undone: 0 });
  return look(s, call, by, halt, nothing, (tool, args, context) => tool.audit?.(args, context));
};

/** Asks the service of an effect what stands there; `nothing` is what comes of it when it cannot say. */
async function look<Found>(
  s: State,
  call: Of<'query' | 'audit'>,
  by: Performer,
  halt: Abort,
  nothing: (reason: string) => Found,
  ask: (tool: Tool, args: Json, context: RunContext) => Promise<Found> | undefined,
): Promise<Found> {
  const effect = findEffect(s, call.effect);
  assert(effect, 'an effect that is looked for stands in the ledger');
  const tool = toolsOf(s, by.ports).get(effect.tool);
  const limitMs = tool?.limitMs?.(effect.args) ?? s.contract.limits.effectTimeoutMs;
  return withTimeout<Found>(limitMs, by, halt, { expired: nothing(TOO_LATE) }, async (limit) => {
    try {
      const answer = tool && ask(tool, effect.args, contextOf(s, by, effect, effect.attempts, limit));
      return answer ? await answer : nothing(`${effect.tool} cannot be asked`);
    } catch (error) {
      return nothing(limit.aborted ? TOO_LATE : messageOf(error));
    }
  });
}

const NO_ANSWER = new ModelError('incomplete', 'The model gave no answer in time.', { retry: true });

const TOO_LATE = 'no answer in time';
const LATE: Outcome = { status: 'unknown', reason: TOO_LATE };

/** Runs under a time limit; whoever ignores its signal is left behind, and what it says then goes to `late`. */
async function withTimeout<T>(
  limitMs: number,
  by: Performer,
  outer: Abort,
  { expired, late: told }: { readonly expired: T; readonly late?: (answer: T) => void },
  run: (limit: Abort) => Promise<T>,
): Promise<T> {
  const limit = new Abort(outer);
  const done = new Nudge();
  const late = by.ports.clock.sleep(limitMs, done).then(async () => {
    if (done.aborted) return expired; // Nobody listens any more.
    limit.abort();
    // One more turn of the loop: a tool that heeds its signal says better what happened.
    await by.ports.clock.sleep(250, done);
    return expired;
  });
  try {
    const answer = run(limit);
    const first = await Promise.race([answer, late]);
    if (first === expired && told) answer.then(told, () => {});
    return first;
  } finally {
    done.give();
    limit.release();
  }
}

const contextOf = (s: State, by: Performer, effect: Effect, attempt: number, limit: Abort): RunContext => ({
  reference: `${by.session}.${effect.id}`,
  epoch: by.epoch,
  attempt,
  get signal() {
    return limit.signal;
  },
  session: by.session,
  workspace: () => hand(by.session, s, by.epoch, by.ports, by.workspaces),
  kin: () => kinOf(s, effect.id, by),
});

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
