// Owns: A1, A2 of approval.ts, D4 of decision.ts, G4 of effect.ts, and what `decide` refuses.
import { describe, expect, it } from 'vitest';
import { checkLog } from '../projections/invariant/invariant.ts';
import { ALLOWED, ASKS, type Sequence, sequence } from '../testing/facts.ts';
import { answer, type Choice } from './decide.ts';
import { OutlastError } from './error.ts';
import { next } from './next.ts';
import { phase } from './phase.ts';
import type { Ruling } from './policy.ts';
import { openDecisions } from './state.ts';
import { decode } from './upcast.ts';

const working = () => sequence().started().acquired(1).message('Post it').turn();
const asking = (...whats: string[]) =>
  working()
    .intends(ASKS, ...whats)
    .chosen();
const kinds = ({ state }: Sequence) => next(state, state.at).choices.map(({ kind }) => kind);
const results = ({ state }: Sequence) =>
  state.turn?.step.phase === 'acting'
    ? state.turn.step.calls.map((call) => (call.state === 'answered' ? call.result.text : call.state))
    : [];
const decide = ({ state }: Sequence, choice: Partial<Choice> = {}, after = 0, id = 'd1') =>
  answer(state, id, { answer: 'approve', text: '', by: 'ada', ...choice }, state.at + after);
const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof OutlastError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'taken';
};

describe('asking', () => {
  it('A1 is one question for each effect, with the digest of its action, and nothing is sent meanwhile', () => {
    const s = working().intends(ASKS, 'a', 'b');
    const { choices } = next(s.state, s.state.at);
    expect(choices).toMatchObject([
      {
        kind: 'decision.requested',
        decision: 'd1',
        about: 'approval',
        effect: 'e1',
        expiresAt: s.state.at + 3_600_000,
      },
      { kind: 'decision.requested', decision: 'd2', about: 'approval', effect: 'e2' },
    ]);
    const asked = s.chosen();
    expect(asked.state.decisions.map(({ digest }) => digest)).toEqual(
      asked.state.effects.open.map((e) => e.digest),
    );
    expect(next(asked.state, asked.state.at)).toMatchObject({ choices: [], calls: [] });
    expect(phase(asked.state)).toBe('awaiting_decision');
    expect(next(asked.state, asked.state.at).wakeAt).toBe(
      Math.min(...asked.state.decisions.map((d) => d.expiresAt ?? 0)),
    );
  });

  it('needs no question where the policy allows, and sends nothing where it denies', () => {
    expect(kinds(working().intends(ALLOWED, 'a'))).toEqual(['effect.dispatched']);
    const denied: Ruling = { verdict: 'deny', rule: 'never', expiresAfterMs: null };
    expect(kinds(working().intends(denied, 'a'))).toEqual([]);
  });
});

describe('deciding', () => {
  it('A2 sends the very effect that was approved, and no other', () => {
    const s = asking('a', 'b').decides('d2', 'approve');
    const { choices } = next(s.state, s.state.at);
    expect(choices).toMatchObject([{ kind: 'effect.dispatched', effect: 'e2' }]);
    expect(openDecisions(s.state)).toMatchObject([{ id: 'd1', effect: 'e1' }]);
  });

  it('D4 what is rejected is withdrawn, and the remark reaches whoever asked', () => {
    const s = asking('a', 'b').decides('d1', 'reject', 'not today');
    expect(s.state.effects.closed).toMatchObject([
      { id: 'e1', status: 'withdrawn', outcome: { code: 'rejected' } },
    ]);
    expect(results(s)).toEqual(['It was not sent. ada rejected it: not today [rejected]', 'running']);
    expect(kinds(s)).toEqual([]);
  });

  it('a question that nobody answers in time expires, is told, and can be answered no more', () => {
    const s = asking('a');
    const hour = 3_600_000;
    expect(next(s.state, s.state.at + hour).choices).toEqual([{ kind: 'decision.expired', decision: 'd1' }]);
    // Even before anybody has noticed the hour.
    expect(refusal(() => decide(s, {}, hour))).toMatch(/^decision\.expired: d1 could be answered until /);
    const over = s.event({ kind: 'decision.expired', decision: 'd1' as never });
    expect(over.state.effects.closed).toMatchObject([
      { status: 'withdrawn', outcome: { code: 'approval.expired' } },
    ]);
    expect(results(over)).toEqual(['It was not sent. Nobody approved it in time (d1) [approval.expired]']);
    expect(refusal(() => decide(over))).toMatch(/^decision\.expired/);
    expect(kinds(over.decides('d1', 'approve'))).not.toContain('effect.dispatched');
  });

  it('a decision that names another action is refused', () => {
    const s = asking('a');
    expect(refusal(() => decide(s, { digest: 'another' }))).toMatch(
      /^decision\.stale: d1 is not about the action/,
    );
    const [decision] = s.state.decisions;
    expect(decide(s, { digest: decision?.digest ?? '' })).toMatchObject([
      { kind: 'decision.made', answer: 'approve' },
    ]);
  });

  it('takes none of the answers of other questions', () => {
    for (const given of ['done', 'not-done', 'answer'] as const)
      expect(refusal(() => decide(asking('a'), { answer: given, text: 'x' }))).toMatch(/^decision\.invalid/);
  });

  it.each([
    ['an interrupt', { kind: 'turn.interrupted', turn: 1, by: 'ada' }, 'the turn was interrupted'],
    ['a stop', { kind: 'session.stopping', by: 'ada' }, 'the session was stopped'],
  ] as const)('G4 %s withdraws it, and the late decision is refused with the reason', (_, event, why) => {
    const s = asking('a').event(event);
    expect(openDecisions(s.state)).toEqual([]);
    expect(refusal(() => decide(s))).toBe(`decision.closed: d1 needs no answer any more: Not sent: ${why}.`);
    expect(s.decides('d1', 'approve').state.effects.open).toEqual([]);
  });

  it('a pause asks and lets expire, and sends nothing', () => {
    const s = asking('a').decides('d1', 'approve').event({ kind: 'session.paused', by: 'ada' });
    expect(kinds(s)).toEqual([]);
    expect(kinds(s.event({ kind: 'session.resumed', by: 'ada' }))).toEqual(['effect.dispatched']);
    const waiting = asking('a').event({ kind: 'session.paused', by: 'ada' }).state;
    expect(next(waiting, waiting.at + 3_600_000).choices).toMatchObject([{ kind: 'decision.expired' }]);
  });

  it('an approval outlives a lost answer: what never arrived is sent again without a second question', () => {
    const s = asking('a').decides('d1', 'approve').chosen().lost().chosen();
    expect(openDecisions(s.state)).toMatchObject([{ id: 'd2', about: 'unknown' }]);
    const again = s.decides('d2', 'not-done').chosen();
    expect(kinds(again)).toEqual(['effect.dispatched']);
    expect(checkLog(again.chosen().events)).toEqual([]);
  });

  it('a call that was suspended is told of the end like of a message', () => {
    const suspended = asking('a').message('what now?', null, 'now').chosen();
    expect(suspended.state.effects.open).toMatchObject([{ isSuspended: true }]);
    const rejected = suspended.decides('d1', 'reject');
    expect(rejected.state.inbox.unread.map(({ text }) => text)).toContainEqual(
      expect.stringContaining('e1 (post service) waits no more. It was not sent. ada rejected it'),
    );
  });
});

describe('the invariants', () => {
  const broken = (s: Sequence) => checkLog(s.events).map(({ invariant }) => invariant);
  const sent = { kind: 'effect.dispatched', effect: 'e1' as never, attempt: 1, epoch: 1 } as const;

  it('hold for what the kernel does', () => {
    expect(broken(asking('a', 'b').decides('d2', 'approve').chosen())).toEqual([]);
  });

  it.each<[string, string, () => Sequence]>([
    ['sent before it was approved', 'policy.ask', () => asking('a').event(sent)],
    ['sent although it was rejected', 'policy.ask', () => asking('a').decides('d1', 'reject').event(sent)],
    [
      'sent for the approval of another',
      'policy.ask',
      () => asking('a', 'b').decides('d2', 'approve').event(sent),
    ],
    [
      'sent although it was denied',
      'policy.deny',
      () =>
        working()
          .intends({ ...ASKS, verdict: 'deny' }, 'a')
          .event(sent),
    ],
    [
      'decided after it had expired',
      'decision.made',
      () => {
        const late = Array.from({ length: 61 }).reduce<Sequence>((s) => s.message('x'), asking('a'));
        return late.event({ kind: 'decision.expired', decision: 'd1' as never }).decides('d1', 'approve');
      },
    ],
    [
      'expired before its time',
      'decision.early',
      () => asking('a').event({ kind: 'decision.expired', decision: 'd1' as never }),
    ],
  ])('see that an effect was %s', (_, invariant, log) => {
    expect(broken(log())).toContain(invariant);
  });
});

it('a log from before there were policies is read as allowed, and its questions as what they were', () => {
  const row = (kind: string, version: number, body: object) =>
    decode({ seq: 2, at: 1, kind, version, body: JSON.stringify(body) });
  expect(row('effect.intended', 1, { effect: 'e1' })).toMatchObject({
    policy: { verdict: 'allow', rule: 'before-policies' },
  });
  const asked = (effect: string | null) => row('decision.requested', 1, { decision: 'd1', effect });
  expect(asked('e1')).toMatchObject({ about: 'unknown', digest: null, expiresAt: null, choices: [] });
  expect(asked(null)).toMatchObject({ about: 'question' });
});
