/**
 * Logs in few words, for tests that say: given these events, when this, then that.
 *
 * @example
 * ```ts
 * const s = sequence().started().message('Report').turn().reply('Done.').surfaced('Done.').state;
 * ```
 */

import type { Budgets } from '../core/budget/budget.ts';
import type { Capability } from '../core/capability.ts';
import type { DecisionAnswer, Event, EventBody, ForeignEvent } from '../core/event.ts';
import { evolve, initialState } from '../core/evolve.ts';
import {
  type CallId,
  type DecisionId,
  type EffectId,
  mint,
  type Owner,
  type SessionId,
} from '../core/ids.ts';
import { DEFAULT_LIMITS, type Limits } from '../core/limits.ts';
import type { Part } from '../core/message.ts';
import { next } from '../core/next.ts';
import { digestOf, type Ruling } from '../core/policy.ts';
import type { State } from '../core/state.ts';

const MINUTE = 60_000;

export const ALLOWED: Ruling = { verdict: 'allow', rule: 'test', expiresAfterMs: null };
export const ASKS: Ruling = { verdict: 'ask', rule: 'test', expiresAfterMs: 60 * MINUTE };

export interface Sequence {
  readonly events: readonly (Event | ForeignEvent)[];
  readonly state: State;
  event(body: EventBody): Sequence;
  foreign(kind: string): Sequence;
  started(options?: { persist?: boolean; limits?: Partial<Limits>; budget?: Partial<Budgets> }): Sequence;
  acquired(epoch: number, clean?: boolean): Sequence;
  message(text: string, key?: string | null, when?: 'next' | 'later' | 'now'): Sequence;
  /** A turn with its first step, which reads everything unread. */
  turn(): Sequence;
  reply(text: string): Sequence;
  asks(...tools: readonly (readonly [tool: string, input: object])[]): Sequence;
  surfaced(text: string): Sequence;
  /** An effect that the model asked for, dispatched under the current epoch. */
  effect(capability: Capability, tool?: string): Sequence;
  /** One effect for each call that the model makes at once, as the policy rules; nothing is sent. */
  intends(policy: Ruling, ...whats: readonly string[]): Sequence;
  /** What `next` chooses now. */
  chosen(): Sequence;
  decides(decision: string, answer: DecisionAnswer, text?: string): Sequence;
  settled(result: object): Sequence;
  /** The holder dies: the next one acquires a lease. */
  lost(): Sequence;
  asked(): Sequence;
  /** From here on it is a fork of another session, made at this place. */
  forked(): Sequence;
}

export function sequence(
  events: readonly (Event | ForeignEvent)[] = [],
  state: State = initialState,
): Sequence {
  const add = (event: Event | ForeignEvent): Sequence => sequence([...events, event], evolve(state, event));
  const stamp = { seq: state.head + 1, at: (state.at || Date.UTC(2026, 2, 2)) + MINUTE };
  const event = (body: EventBody): Sequence => add({ ...body, ...stamp } as Event);
  const turnNumber = state.turn?.number ?? 0;
  const stepNumber = state.turn?.steps ?? 0;
  const completed = (parts: readonly Part[], finish: 'stop' | 'tool-calls'): Sequence =>
    event({
      kind: 'model.completed',
      turn: turnNumber,
      step: stepNumber,
      model: 'scripted/test',
      parts,
      finish,
      ...{ usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }, cost: null, ms: 0 },
    });
  const newest = state.effects.open.at(-1);

  return {
    events,
    state,
    event,
    foreign: (original) => add({ kind: 'foreign', original, version: 1, ...stamp }),
    started: ({ persist = true, limits = {}, budget = {} } = {}) =>
      event({
        kind: 'session.started',
        owner: 'local' as Owner,
        persist,
        objective: 'Report',
        title: 'Report',
        model: 'scripted/test',
        tools: ['code'],
        limits: { ...DEFAULT_LIMITS, ...limits },
        seed: 1,
        budget: { turn: {}, session: {}, ...budget },
      }),
    acquired: (epoch, clean = true) =>
      event({ kind: 'lease.acquired', epoch, holder: `worker-${epoch}`, clean }),
    message: (text, key = null, when = 'next') =>
      event({
        kind: 'message.accepted',
        message: mint.message(state.counters),
        key,
        text,
        images: [],
        when,
        rule: '',
      }),
    turn() {
      const turn = state.turns + 1;
      const messages = state.inbox.unread.map((message) => message.id);
      return event({ kind: 'turn.started', turn })
        .event({ kind: 'step.started', turn, step: 1 })
        .event({ kind: 'message.read', turn, step: 1, messages });
    },
    reply: (text) => completed([{ type: 'text', text }], 'stop'),
    asks: (...tools) =>
      completed(
        tools.map(([tool, input], i) => ({
          type: 'tool-call' as const,
          call: mint.call(state.counters, i),
          tool,
          input: input as never,
        })),
        'tool-calls',
      ),
    surfaced: (text) =>
      event({
        kind: 'response.surfaced',
        turn: turnNumber,
        text,
        answers: state.turn?.answers ?? [],
        complete: true,
        claims: [],
      }),
    effect(capability, tool = 'pay') {
      const call = mint.call(state.counters);
      const effect = mint.effect(state.counters);
      return sequence(events, state)
        .asks([tool, { what: 'rent' }])
        .event({
          kind: 'effect.intended',
          effect,
          origin: { by: 'call', call: call as CallId },
          tool,
          capability,
          target: `${tool} service`,
          identity: null,
          args: { what: 'rent' },
          digest: 'd',
          policy: ALLOWED,
        })
        .event({ kind: 'effect.dispatched', effect, attempt: 1, epoch: state.lifetime.epoch });
    },
    intends(policy, ...whats) {
      const target = 'post service';
      const asked = sequence(events, state).asks(...whats.map((what) => ['post', { what }] as const));
      return whats.reduce(
        (log, what, i) =>
          log.event({
            kind: 'effect.intended',
            effect: mint.effect(log.state.counters),
            origin: { by: 'call', call: mint.call(state.counters, i) },
            tool: 'post',
            capability: { kind: 'blind' },
            target,
            identity: null,
            args: { what },
            digest: digestOf({ tool: 'post', target, args: { what } }),
            policy,
          }),
        asked,
      );
    },
    chosen: () =>
      next(state, state.at).choices.reduce((log, choice) => log.event(choice), sequence(events, state)),
    decides: (decision, answer, text = '') =>
      event({ kind: 'decision.made', decision: decision as DecisionId, answer, text, by: 'ada' }),
    settled: (result) =>
      event({
        kind: 'effect.settled',
        effect: newest?.id as EffectId,
        attempt: newest?.attempts ?? 1,
        outcome: { status: 'done', result: result as never },
      }),
    lost: () =>
      event({ kind: 'lease.acquired', epoch: state.lifetime.epoch + 1, holder: 'next', clean: false }),
    asked: () =>
      event({
        kind: 'decision.requested',
        decision: mint.decision(state.counters),
        about: 'unknown',
        effect: newest?.id as EffectId,
        origin: null,
        question: 'Did it happen?',
        why: 'the worker was lost',
        options: ['done', 'not-done', 'reject'],
        choices: [],
        digest: null,
        expiresAt: null,
      }),
    forked: () => {
      const from = 'ses_original00000000' as SessionId;
      return event({
        kind: 'session.forked',
        ...{ from, head: state.head, lineage: from, title: 'Report (fork)', by: 'ann' },
      });
    },
  };
}
