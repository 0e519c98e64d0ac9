/**
 * Performing: one function for each port call. What came back is returned as a `Performed`; nothing is decided and
 * nothing is durable here.
 */

import { buildRequest } from '../context/build.ts';
import { type Finding, type Outcome, writes } from '../core/capability.ts';
import { OutlastError } from '../core/error.ts';
import type { SessionId } from '../core/ids.ts';
import type { PortCall } from '../core/next.ts';
import { type Effect, findEffect, type State } from '../core/state.ts';
import { assert, unreachable } from '../lib/assert.ts';
import { Nudge } from '../lib/clock.ts';
import { ModelError, type ModelReply } from '../models/port.ts';
import type { HeapStep } from '../sandbox/port.ts';
import { NotSent, type RunContext, type Tool } from '../tools/port.ts';
import type { Heaps, Opened } from './heaps.ts';
import { inputOf } from './journal.ts';
import type { Ports } from './ports.ts';

export type Performed =
  | { readonly do: 'generate'; readonly call: Of<'generate'>; readonly reply: ModelReply | ModelError }
  | { readonly do: 'call'; readonly call: Of<'call'>; readonly outcome: Outcome }
  | { readonly do: 'query'; readonly call: Of<'query'>; readonly finding: Finding }
  | { readonly do: 'open'; readonly call: Of<'open'>; readonly opened: Opened }
  | { readonly do: 'move'; readonly call: Of<'run' | 'deliver'>; readonly step: HeapStep }
  | { readonly do: 'release'; readonly call: Of<'release'> };

type Of<Do extends PortCall['do']> = Extract<PortCall, { do: Do }>;

export interface Performer {
  readonly session: SessionId;
  readonly ports: Ports;
  readonly heaps: Heaps;
  /** The lease that this holder acts under, and when it ends on the monotonic clock. */
  readonly epoch: number;
  readonly leaseEnds: () => number;
}

export async function perform(
  call: PortCall,
  s: State,
  by: Performer,
  signal: AbortSignal,
): Promise<Performed> {
  const move = (moved: Parameters<typeof inputOf>[1]['moved']): Promise<HeapStep> =>
    by.heaps.apply(by.session, s, inputOf(s, { moved }), signal);
  switch (call.do) {
    case 'generate':
      return { do: 'generate', call, reply: await generate(s, by, signal) };
    case 'call':
      return { do: 'call', call, outcome: await runEffect(s, call, by, signal) };
    case 'query':
      return { do: 'query', call, finding: await findOut(s, call, by, signal) };
    case 'open':
      return { do: 'open', call, opened: await by.heaps.open(by.session, s) };
    case 'run':
      return { do: 'move', call, step: await move({ by: 'run' }) };
    case 'deliver':
      return { do: 'move', call, step: await move({ by: 'delivery', guestCall: call.guestCall }) };
    case 'release':
      await by.heaps.close(by.session);
      return { do: 'release', call };
    case 'plan':
      throw new OutlastError('internal', 'Plans are made in the commit that asks for them.');
    default:
      return unreachable(call);
  }
}

async function generate(s: State, by: Performer, signal: AbortSignal): Promise<ModelReply | ModelError> {
  const { model, tools, briefing, bell } = by.ports;
  const request = buildRequest(s, { tools: tools.specs, briefing });
  const onText = (delta: string) => bell.whisper(by.session, delta);
  const reply = await withTimeout<ModelReply | ModelError>(
    s.contract.limits.modelTimeoutMs,
    by,
    signal,
    NO_ANSWER,
    async (limit) => {
      try {
        return await model.generate(request, { signal: limit, onText });
      } catch (error) {
        if (error instanceof ModelError) return error;
        const code = limit.aborted ? 'aborted' : 'failed';
        return new ModelError(code, messageOf(error), { retry: false, cause: error });
      }
    },
  );
  // Our own time limit aborts the call as well, and is no wish of a person.
  const timedOut = reply instanceof ModelError && reply.code === 'aborted' && !signal.aborted;
  return timedOut ? NO_ANSWER : reply;
}

async function runEffect(
  s: State,
  { effect: id, attempt }: Of<'call'>,
  by: Performer,
  signal: AbortSignal,
): Promise<Outcome> {
  const effect = findEffect(s, id);
  assert(effect, 'an effect that is called stands in the ledger');
  const tool = by.ports.tools.get(effect.tool);
  if (!tool) {
    const message = `The tool "${effect.tool}" is not here any more.`;
    const didNothing = !writes(effect.capability) || isFirstWord(effect, attempt);
    return didNothing
      ? { status: 'failed', code: 'tool.gone', message }
      : { status: 'unknown', reason: message };
  }
  if (by.ports.clock.monotonic() >= by.leaseEnds()) {
    // Marked, not written: the lease ran out between the two, so this process may not act any more.
    return { status: 'unknown', reason: 'the lease ended before the request left' };
  }
  return withTimeout<Outcome>(s.contract.limits.effectTimeoutMs, by, signal, LATE, async (limit) => {
    try {
      return await tool.run(effect.args, contextOf(by, effect, attempt, limit));
    } catch (error) {
      if (error instanceof NotSent && isFirstWord(effect, attempt)) {
        return { status: 'failed', code: 'not_sent', message: `Nothing was sent: ${error.message}` };
      }
      const reason = limit.aborted ? 'no answer in time' : messageOf(error);
      return { status: 'unknown', reason };
    }
  });
}

/** Whether no earlier attempt can still stand: a repeat that was not sent says nothing about the one before it. */
function isFirstWord({ capability }: Effect, attempt: number): boolean {
  switch (capability.kind) {
    case 'read':
      return false;
    case 'keyed':
      return attempt === 1;
    default:
      // Sent again only after the earlier one was found absent.
      return true;
  }
}

async function findOut(s: State, call: Of<'query'>, by: Performer, signal: AbortSignal): Promise<Finding> {
  const effect = findEffect(s, call.effect);
  assert(effect, 'an effect that is asked about stands in the ledger');
  const tool: Tool | undefined = by.ports.tools.get(effect.tool);
  if (!tool?.find) return { status: 'unclear', reason: `${effect.tool} cannot be asked` };
  return withTimeout<Finding>(s.contract.limits.effectTimeoutMs, by, signal, NOBODY, async (limit) => {
    try {
      return (await tool.find?.(effect.args, contextOf(by, effect, effect.attempts, limit))) ?? NOBODY;
    } catch (error) {
      return { status: 'unclear', reason: limit.aborted ? 'no answer in time' : messageOf(error) };
    }
  });
}

const NO_ANSWER = new ModelError('incomplete', 'The model gave no answer in time.', { retry: true });
const LATE: Outcome = { status: 'unknown', reason: 'no answer in time' };
const NOBODY: Finding = { status: 'unclear', reason: 'no answer in time' };

/** Runs under a time limit; whoever ignores its signal is left behind with the `expired` outcome. */
async function withTimeout<T>(
  limitMs: number,
  by: Performer,
  outer: AbortSignal,
  expired: T,
  run: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const done = new Nudge();
  const abort = () => limit.abort();
  outer.addEventListener('abort', abort, { once: true });
  const late = by.ports.clock.sleep(limitMs, done).then(async () => {
    if (done.aborted) return expired; // Nobody listens any more.
    limit.abort();
    // One more turn of the loop: a tool that heeds its signal says better what happened.
    await by.ports.clock.sleep(250, done);
    return expired;
  });
  try {
    return await Promise.race([run(limit.signal), late]);
  } finally {
    done.give();
    outer.removeEventListener('abort', abort);
  }
}

const contextOf = (by: Performer, effect: Effect, attempt: number, signal: AbortSignal): RunContext => ({
  reference: `${by.session}.${effect.id}`,
  epoch: by.epoch,
  attempt,
  signal,
});

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
