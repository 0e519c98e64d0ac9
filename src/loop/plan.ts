/**
 * From what was asked for to a durable intention, with what the policy says of it. Planning is pure (T1 of the tool port),
 * so it shares the commit of the asking: nothing is sent here.
 */

import { failures, NONE_FAILING, REFUSED_AFTER, repeatedInWords } from '../core/budget/breaker.ts';
import { mandate } from '../core/conversation/mandate.ts';
import { OutlastError } from '../core/error.ts';
import type { EventBody, Origin } from '../core/event.ts';
import { refusal, shareOf } from '../core/family/state.ts';
import { REFUSED } from '../core/fork/evolve.ts';
import { type CallId, type CellId, type Counters, mint } from '../core/ids.ts';
import { digestOf, type Policy, type Ruling } from '../core/policy.ts';
import { callsOf, type State } from '../core/state.ts';
import type { FilesUse } from '../core/workspace/event.ts';
import { assert } from '../lib/assert.ts';
import { isRecord, type Json } from '../lib/json.ts';
import type { GuestCall, Sandbox } from '../sandbox/port.ts';
import { isRefusal, type Plan, type Refusal, type Tool } from '../tools/port.ts';
import { type Offers, toolsOf } from './tools/offer.ts';
import { CODE } from './tools/registry.ts';

export interface Planner extends Omit<Offers, 'briefing'> {
  readonly policy: Policy;
  readonly sandbox: Pick<Sandbox, 'prepare'>;
}

/** What a call of the model becomes: a cell, an effect, or a refusal that the model reads. */
export function planCall(s: State, id: CallId, planner: Planner): readonly EventBody[] {
  const call = callsOf(s).find(({ part }) => part.call === id);
  assert(call, 'a call is planned while its step is open');
  const { tool: name, input, broken } = call.part;
  if (broken !== undefined) return [refuse(id, 'call.broken', `This call was not run: ${broken}`)];
  const failed = failures(s.turn?.failing ?? NONE_FAILING, call.part);
  if (failed >= REFUSED_AFTER) return [refuse(id, 'call.repeated', repeatedInWords(failed))];
  const tools = toolsOf(s, planner);
  if (name === CODE && tools.hasCode) return [planCell(s, id, input, planner.sandbox)];
  const origin: Origin = { by: 'call', call: id };
  const verb = tools.verb(name)?.plan(s, origin, input);
  if (verb) return ['refused' in verb ? refuse(id, verb.refused.code, verb.refused.message) : verb];
  const tool = tools.get(name);
  if (!tool?.direct) {
    const known = tools.specs.map((spec) => spec.name).join(', ');
    return [refuse(id, 'tool.unknown', `There is no tool "${name}". There are: ${known}.`)];
  }
  const plan = withFamily(s, planOf(tool, input));
  return isRefusal(plan)
    ? [refuse(id, plan.refused.code, plan.refused.message)]
    : ruled(s, origin, tool.bookedAs ?? name, plan, planner.policy, useOf(tool));
}

/**
 * What calls of the guest become. A refused one is intended and refused, so that its promise rejects by the log; with
 * `isRefused` that becomes of all.
 */
export function planGuestCalls(
  s: State,
  cell: CellId,
  calls: readonly GuestCall[],
  { tools, policy }: Pick<Planner, 'tools' | 'policy'>,
  isRefused = false,
): readonly EventBody[] {
  let { counters } = s;
  const minted = (...events: readonly EventBody[]): readonly EventBody[] => {
    counters = events.reduce(counted, counters);
    return events;
  };
  return calls.flatMap((call): readonly EventBody[] => {
    const args = parse(call.args);
    const { guestCall } = call;
    const origin: Origin = { by: 'cell', cell, guestCall };
    const now: State = { ...s, counters };
    if (call.name === 'timer' && !isRefused) return minted(guestTimer(now, origin, args));
    const name = call.name.startsWith('tools.') ? call.name.slice('tools.'.length) : call.name;
    const verb = isRefused ? { refused: REFUSED } : tools.verb(name)?.plan(now, origin, args);
    if (verb && !('refused' in verb)) return minted(verb);
    const tool = tools.get(name);
    const plan = verb ?? (tool ? withoutFamily(planOf(tool, args)) : notGranted(name));
    if (!isRefusal(plan))
      return minted(...ruled(now, origin, tool?.bookedAs ?? name, plan, policy, useOf(tool)));
    const stand: Plan = { capability: { kind: 'read' }, target: name, identity: null, args };
    const intent = intend(now, origin, name, stand, deniedBy(plan.refused.code));
    return minted(intent, { kind: 'effect.refused', effect: intent.effect, ...plan.refused });
  });
}

function guestTimer(s: State, origin: Origin, args: Json): EventBody {
  const asked = isRecord(args) && typeof args.ms === 'number' && args.ms > 0 ? args.ms : 0;
  // With no turn open nobody waits for it: a loop of timers left behind must not keep the log moving for ever.
  const floor = s.turn === null ? BACKGROUND_TIMER_MS : MIN_TIMER_MS;
  const ms = Math.min(Math.max(asked, floor), MAX_TIMER_MS);
  return { kind: 'timer.set', timer: mint.timer(s.counters), due: s.at + ms, origin };
}

/** The counters as the fold will have them after this event, whose id was minted from them. */
function counted(counters: Counters, { kind }: EventBody): Counters {
  switch (kind) {
    case 'effect.intended':
      return { ...counters, effect: counters.effect + 1 };
    case 'timer.set':
      return { ...counters, timer: counters.timer + 1 };
    case 'decision.requested':
      return { ...counters, decision: counters.decision + 1 };
    default:
      return counters;
  }
}

const MIN_TIMER_MS = 1;
const BACKGROUND_TIMER_MS = 1_000;
const MAX_TIMER_MS = 365 * 24 * 3_600_000;

function planCell(s: State, call: CallId, input: Json, sandbox: Pick<Sandbox, 'prepare'>): EventBody {
  const source = isRecord(input) ? input.source : undefined;
  if (typeof source !== 'string' || source.trim() === '') {
    return refuse(call, 'call.invalid', 'code takes {"source": "..."}; the source is missing.');
  }
  const prepared = sandbox.prepare(source);
  if (!prepared.ok) return refuse(call, 'code.syntax', `The cell was not run. ${prepared.message}`);
  return { kind: 'cell.started', cell: mint.cell(s.counters), call, source, code: prepared.code };
}

function planOf(tool: Tool, args: Json): Plan | Refusal {
  try {
    return tool.plan(args);
  } catch (error) {
    const message =
      error instanceof OutlastError ? error.message : `${tool.spec.name} could not plan this call.`;
    return { refused: { code: 'call.invalid', message } };
  }
}

/** What is ordered of a child has to keep to the bounds of its tree, and takes its share of the budget with it. */
function withFamily(s: State, plan: Plan | Refusal): Plan | Refusal {
  if (isRefusal(plan) || plan.family === undefined) return plan;
  const refused = refusal(s, plan.family);
  if (refused) return { refused };
  const { args } = plan;
  if (plan.family === 'decides') return withMandate(s, plan);
  return { ...plan, args: { ...(isRecord(args) ? args : {}), share: shareOf(s) as Json } };
}

/** Who decides is a person; what they said goes with it, or it is not done. */
function withMandate(s: State, plan: Plan): Plan | Refusal {
  const args = isRecord(plan.args) ? plan.args : {};
  const found = mandate(s, args as unknown as Parameters<typeof mandate>[1]);
  return 'refused' in found ? found : { ...plan, args: { ...args, mandate: { ...found } } };
}

/** A promise in code would have to wait as long as a child may work; a call can be gone on without. */
const withoutFamily = (plan: Plan | Refusal): Plan | Refusal =>
  isRefusal(plan) || plan.family === undefined
    ? plan
    : { refused: { code: 'call.invalid', message: 'Children are ordered by a call, not by code.' } };

/** The intention with its ruling; what the policy denies is refused in the same breath. */
function ruled(
  s: State,
  origin: Origin,
  tool: string,
  plan: Plan,
  policy: Policy,
  files: FilesUse | undefined,
): readonly EventBody[] {
  const { capability, target, args, costUsd = null } = plan;
  const { owner } = s.contract;
  const ruling = policy({ owner, tool, capability, target, args, costUsd });
  const intent = { ...intend(s, origin, tool, plan, ruling), ...(files ? { files } : {}) };
  if (ruling.verdict !== 'deny') return [intent];
  const message = `It was not sent: the rule "${ruling.rule}" denies it. Do not do it by other means.`;
  return [intent, { kind: 'effect.refused', effect: intent.effect, code: 'policy.denied', message }];
}

function intend(
  s: State,
  origin: Origin,
  tool: string,
  { capability, target, identity, args, family }: Plan,
  policy: Ruling,
): Extract<EventBody, { kind: 'effect.intended' }> {
  const digest = digestOf({ tool, target, args });
  const effect = mint.effect(s.counters);
  return {
    kind: 'effect.intended',
    effect,
    origin,
    tool,
    capability,
    target,
    identity,
    args,
    digest,
    policy,
    ...(family === undefined ? {} : { family }),
  };
}

const useOf = (tool: Tool | undefined): FilesUse | undefined =>
  tool?.changesFiles ? 'changes' : tool?.readsFiles ? 'reads' : undefined;

/** What cannot even be planned is no matter for the policy; its own code stands for the rule. */
const deniedBy = (rule: string): Ruling => ({ verdict: 'deny', rule, expiresAfterMs: null });

const refuse = (call: CallId, code: string, message: string): EventBody => ({
  kind: 'call.refused',
  call,
  code,
  message,
});

const notGranted = (name: string): Refusal => ({
  refused: { code: 'tool.not_granted', message: `"${name}" is not granted in this sandbox.` },
});

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
