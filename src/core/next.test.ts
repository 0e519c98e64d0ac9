import { describe, expect, it } from 'vitest';
import { ALLOWED, sequence } from '../testing/facts.ts';
import type { Capability } from './capability.ts';
import { next } from './next.ts';
import { phase } from './phase.ts';

const working = () => sequence().started().acquired(1).message('Report').turn();
const kinds = (s: ReturnType<typeof working>) =>
  next(s.state, s.state.at).choices.map((choice) => choice.kind);
const calls = (s: ReturnType<typeof working>, after = 0) =>
  next(s.state, s.state.at + after).calls.map((call) => call.do);

describe('a turn', () => {
  it('starts by itself when something is unread, and reads all of it in one step', () => {
    const s = sequence().started().acquired(1).message('one').message('two');
    const { choices } = next(s.state, s.state.at);
    expect(choices.map((choice) => choice.kind)).toEqual(['turn.started', 'step.started', 'message.read']);
    expect(choices[2]).toMatchObject({ messages: ['m1', 'm2'] });
  });

  it('generates, and surfaces a reply without calls', () => {
    expect(calls(working())).toEqual(['generate']);
    expect(kinds(working().reply('Done.'))).toEqual(['response.surfaced']);
  });

  it('B142: a message that arrives while the answer is written starts the next turn by itself', () => {
    const s = working().message('and March').reply('February: …').surfaced('February: …');
    expect(phase(s.state)).toBe('working');
    expect(kinds(s)).toEqual(['turn.started', 'step.started', 'message.read']);
  });

  it('B150: five messages in a row are read in order', () => {
    const s = ['a', 'b', 'c', 'd', 'e']
      .reduce((log, text) => log.message(text), working())
      .asks(['gone', {}]);
    const refused = s.event({
      kind: 'call.refused',
      call: 'call_1' as never,
      code: 'tool.unknown',
      message: 'no',
    });
    expect(next(refused.state, 0).choices[1]).toMatchObject({ messages: ['m2', 'm3', 'm4', 'm5', 'm6'] });
  });

  it('`now` starts the generation again, `later` waits for the response', () => {
    expect(kinds(working().message('stop that', null, 'now'))).toEqual(['step.started', 'message.read']);
    expect(calls(working().message('after that', null, 'later'))).toEqual(['generate']);
    const answered = working().message('after that', null, 'later').reply('Done.').surfaced('Done.');
    expect(kinds(answered)).toEqual(['turn.started', 'step.started', 'message.read']);
  });

  it('fails in plain words at its limit of steps; the session goes on', () => {
    const s = sequence()
      .started({ limits: { stepsPerTurn: 1 } })
      .acquired(1)
      .message('x')
      .turn()
      .asks(['gone', {}]);
    const refused = s.event({
      kind: 'call.refused',
      call: 'call_1' as never,
      code: 'tool.unknown',
      message: 'no',
    });
    expect(next(refused.state, 0).choices[0]).toMatchObject({ kind: 'turn.failed', code: 'limit.steps' });
  });

  it('B075: a refusal is surfaced as one and not tried again', () => {
    const s = working().event({
      kind: 'model.completed',
      turn: 1,
      step: 1,
      model: 'm',
      parts: [],
      finish: 'refusal',
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
      cost: null,
      ms: 0,
    });
    expect(next(s.state, 0).choices).toMatchObject([{ kind: 'turn.failed', code: 'model.refused' }]);
  });

  it('B076: what the provider will never take fails the turn at once and adds nothing to the history', () => {
    const failed = {
      kind: 'model.failed',
      turn: 1,
      step: 1,
      code: 'refused_request',
      message: 'bad history',
      retry: false,
      retryAfterMs: null,
      partial: '',
    } as const;
    const s = working();
    const after = s.event(failed);
    expect(after.state.transcript).toEqual(s.state.transcript);
    expect(kinds(after)).toEqual(['turn.failed']);
  });

  it('waits as long as the provider asks before the next attempt', () => {
    const s = working().event({
      kind: 'model.failed',
      turn: 1,
      step: 1,
      code: 'rate_limited',
      message: 'slow down',
      retry: true,
      retryAfterMs: 7_000,
      partial: '',
    });
    expect(next(s.state, s.state.at)).toMatchObject({ calls: [], wakeAt: s.state.at + 7_000 });
    expect(calls(s, 7_000)).toEqual(['generate']);
  });
});

describe('an effect after its holder died', () => {
  const lost = (capability: Capability) => working().effect(capability).lost();

  it('N3: is in flight only under the epoch of its mark', () => {
    expect(calls(working().effect({ kind: 'blind' }))).toContain('call');
    expect(calls(lost({ kind: 'blind' }))).not.toContain('call');
  });

  it('R1: a read runs again, a keyed write is repeated while its key is kept', () => {
    expect(kinds(lost({ kind: 'read' }))).toContain('effect.dispatched');
    expect(kinds(lost({ kind: 'keyed', retentionMs: 3_600_000 }))).toContain('effect.dispatched');
    expect(kinds(lost({ kind: 'keyed', retentionMs: 1 }))).toContain('decision.requested');
  });

  it('R2: a queryable write waits from the takeover on, then is looked for', () => {
    const s = lost({ kind: 'queryable', lateMs: 2_000 });
    expect(next(s.state, s.state.at).wakeAt).toBe(s.state.at + 2_000);
    expect(calls(s, 1_999)).not.toContain('query');
    expect(calls(s, 2_000)).toContain('query');
  });

  it('R3: a blind write is one question, and nothing else happens meanwhile', () => {
    const s = lost({ kind: 'blind' });
    expect(kinds(s)).toEqual(['decision.requested']);
    const asked = s.asked();
    expect(next(asked.state, asked.state.at)).toMatchObject({ choices: [], calls: [] });
    expect(phase(asked.state)).toBe('awaiting_decision');
  });

  it('holds other writes to the same target until it is settled', () => {
    const s = lost({ kind: 'blind' }).asked();
    const more = s.event({
      kind: 'effect.intended',
      effect: 'e2' as never,
      origin: { by: 'cell', cell: 'c1' as never, guestCall: 1 },
      tool: 'pay',
      capability: { kind: 'blind' },
      target: 'pay service',
      identity: null,
      args: { what: 'rent, please' },
      digest: 'e',
      policy: ALLOWED,
    });
    expect(kinds(more)).toEqual([]);
    const decided = more.event({
      kind: 'decision.made',
      decision: 'd1' as never,
      answer: 'done',
      text: '',
      by: 'ada',
    });
    expect(kinds(decided)).toContain('effect.reconciled');
  });

  it('takes in what a former holder hands in, and asks nobody any more', () => {
    const s = lost({ kind: 'blind' })
      .asked()
      .event({
        kind: 'evidence.received',
        effect: 'e1' as never,
        epoch: 1,
        attempt: 1,
        outcome: { status: 'done', result: { ok: true } },
      });
    expect(next(s.state, s.state.at).choices).toMatchObject([
      { kind: 'effect.reconciled', evidence: 'late' },
    ]);
  });
});

describe('lifetime', () => {
  it('B093: holders that die in a row are counted in the log, and the session is set aside', () => {
    const log = [2, 3, 4, 5, 6].reduce((s, epoch) => s.acquired(epoch, false), working());
    expect(kinds(log)).toEqual(['session.quarantined']);
    const resumed = log
      .event({ kind: 'session.quarantined', reason: 'they died' })
      .event({ kind: 'session.resumed', by: 'ada' });
    expect(calls(resumed)).toEqual(['generate']);
  });

  it('counts anew after progress', () => {
    const log = [2, 3, 4, 5].reduce((s, epoch) => s.acquired(epoch, false), working()).reply('Done.');
    expect(log.acquired(6, false).state.lifetime.crashes).toBe(1);
  });

  it('a stop that stands before a dispatch prevents it', () => {
    const s = working()
      .asks(['pay', {}])
      .event({
        kind: 'effect.intended',
        effect: 'e1' as never,
        origin: { by: 'call', call: 'call_1' as never },
        tool: 'pay',
        capability: { kind: 'blind' },
        target: 'pay service',
        identity: null,
        args: {},
        digest: 'e',
        policy: ALLOWED,
      });
    const stopping = s.event({ kind: 'session.stopping', by: 'ada' });
    expect(stopping.state.effects.closed).toMatchObject([{ id: 'e1', status: 'withdrawn' }]);
    expect(calls(stopping)).toEqual(['release']);
  });

  it('pausing keeps what has left in flight and starts nothing new', () => {
    const s = working().effect({ kind: 'blind' }).event({ kind: 'session.paused', by: 'ada' });
    expect(calls(s)).toEqual(['call']);
    expect(calls(working().event({ kind: 'session.paused', by: 'ada' }))).toEqual([]);
  });
});
