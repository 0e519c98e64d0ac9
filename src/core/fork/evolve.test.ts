import { describe, expect, it } from 'vitest';
import { checkLog } from '../../projections/invariant/invariant.ts';
import { ALLOWED, type Sequence, sequence } from '../../testing/facts.ts';
import * as decide from '../decide.ts';
import { isNews } from '../effect.ts';
import type { Event, EventBody } from '../event.ts';
import { next } from '../next.ts';
import { phase } from '../phase.ts';
import { findEffect, openDecisions } from '../state.ts';
import { cutAt, mayAct } from './evolve.ts';

const working = () => sequence().started().acquired(3).message('Report', 'key-1').turn();
const blind = () => working().effect({ kind: 'blind' });
const image = (digest: string) =>
  ({ form: 'base', blob: `b${digest}`, bytes: 1, engine: 'e', digest }) as const;

/** A cell that has run up to its calls: an effect, a timer and a question of code. */
function inCell(): Sequence {
  const origin = (guestCall: number) => ({ by: 'cell', cell: 'c1', guestCall }) as const;
  const bodies = [
    { kind: 'cell.started', cell: 'c1', call: 'call_1', source: 'x', code: 'x' },
    { kind: 'heap.restored', epoch: 3, rung: 'fresh', note: '', lost: [], image: null },
    {
      kind: 'cell.committed',
      ...{ cell: 'c1', moved: { by: 'run' }, image: image('1'), output: '', ended: [], fuel: 1 },
      live: { set: [{ name: 'rows', type: 'Array', size: 20 }], gone: [] },
    },
    {
      kind: 'effect.intended',
      ...{
        effect: 'e1',
        origin: origin(1),
        tool: 'pay',
        capability: { kind: 'blind' },
        target: 'pay service',
      },
      ...{ identity: null, args: {}, digest: 'd', policy: ALLOWED },
    },
    { kind: 'timer.set', timer: 't1', due: Date.UTC(2030, 0, 1), origin: origin(2) },
    {
      kind: 'decision.requested',
      ...{
        decision: 'd1',
        about: 'question',
        effect: null,
        origin: origin(3),
        question: 'Which?',
        options: ['answer'],
        choices: [],
        why: '',
        digest: null,
        expiresAt: null,
      },
    },
    { kind: 'effect.dispatched', effect: 'e1', attempt: 1, epoch: 3 },
  ];
  return bodies.reduce((log, body) => log.event(body as unknown as EventBody), working().asks(['code', {}]));
}

const quiet = (s: Sequence) => {
  const { choices, calls, wakeAt } = next(s.state, s.state.at + 366 * 24 * 3_600_000);
  return { choices, calls, wakeAt };
};

describe('a fork rests, and nothing of what was in flight is done from it', () => {
  it.each([
    ['a generation', working],
    ['a call of each kind', blind],
    ['an effect in doubt, and a person asked', () => blind().lost().asked()],
    ['a message not read', () => working().message('and March')],
    ['a stop under way', () => blind().event({ kind: 'session.stopping', by: 'ann' })],
    ['a pause', () => working().event({ kind: 'session.paused', by: 'ann' })],
    ['a quarantine', () => working().event({ kind: 'session.quarantined', reason: 'died' })],
  ])('%s', (_name, before) => {
    const s = before().forked();
    expect(quiet(s)).toEqual({ choices: [], calls: [], wakeAt: null });
    expect(phase(s.state)).toBe('awaiting_input');
    expect(s.state).toMatchObject({ turn: null, timers: [], inbox: { unread: [], receipts: {} } });
    expect(s.state.effects.open).toEqual([]);
    expect(openDecisions(s.state)).toEqual([]);
    expect(checkLog(s.events)).toEqual([]);
  });

  it('an effect is told as left, neither done nor failed, and the turn that asked is ended', () => {
    const { state } = blind().forked();
    expect(findEffect(state, 'e1' as never)).toMatchObject({
      status: 'left',
      outcome: { code: 'left_with_original' },
    });
    expect(state.lastTurn).toMatchObject({ number: 1, end: 'interrupted' });
    const reply = state.transcript.findLast((item) => item.kind === 'reply');
    expect(reply).toMatchObject({ results: [{ status: 'unknown' }] });
    expect(state.transcript.at(-1)).toMatchObject({ kind: 'note' });
    expect(JSON.stringify(state.transcript.at(-1))).toContain('fork of ses_original00000000 at 9');
  });

  it('what had not been sent is told as not sent', () => {
    const unsent = blind().events.slice(0, -1) as readonly Event[];
    const before = unsent.reduce((log, event) => log.event(event), sequence());
    const reply = before.forked().state.transcript.findLast((item) => item.kind === 'reply');
    expect(reply).toMatchObject({ results: [{ status: 'interrupted' }] });
  });

  it('late evidence about it says nothing here', () => {
    const s = blind().forked();
    const outcome = { status: 'done', result: {} } as const;
    const evidence = { effect: 'e1' as never, attempt: 1, outcome };
    expect(isNews(s.state, evidence)).toBe(false);
    const late = s.event({ kind: 'evidence.received', epoch: 3, ...evidence });
    expect(late.state.effects).toEqual(s.state.effects);
    expect(late.state.transcript).toEqual(s.state.transcript);
  });

  it('a decision of the original cannot be made in it', () => {
    const { state } = blind().lost().asked().forked();
    const answer = () => decide.answer(state, 'd1', { answer: 'done', text: '', by: 'ann' }, state.at);
    expect(answer).toThrow('left with the original');
  });
});

describe('a fork is a session of its own', () => {
  it('leases, crashes and times begin anew; its contract stays', () => {
    const { state } = working().lost().lost().forked();
    expect(state.lifetime).toMatchObject({ status: 'open', epoch: 0, crashes: 0, quarantine: null });
    expect(state.contract).toMatchObject({ owner: 'local', title: 'Report (fork)', startedAt: state.at });
    expect(checkLog(working().forked().acquired(1).events)).toEqual([]);
  });

  it('a key that the original has used is new here', () => {
    const sent = decide.send(working().forked().state, 'Report', { key: 'key-1', when: 'next' });
    expect(sent).toMatchObject({ rule: 'starts turn 2' });
    expect(checkLog(working().forked().message('Report', 'key-1').events)).toEqual([]);
  });

  it('ids go on, so that no effect of it has the name of one that was left', () => {
    const s = blind().forked().acquired(1).message('Pay again').turn().effect({ kind: 'blind' });
    expect(s.state.effects.open.map(({ id }) => id)).toEqual(['e2']);
    expect(checkLog(s.events)).toEqual([]);
  });

  it('a fork of a fork is bound to the same lineage', () => {
    const { state } = working().forked();
    const [body] = decide.fork(
      state,
      { from: 'ses_b' as never, lineage: 'ses_original00000000' as never },
      by(),
    );
    expect(body).toMatchObject({
      kind: 'session.forked',
      head: state.head,
      title: 'Report (fork) (fork at 7)',
    });
  });

  it('is refused where a newer version has written', () => {
    const { state } = working().foreign('later.kind');
    expect(() => decide.fork(state, { from: 'ses_b' as never, lineage: 'ses_b' as never }, by())).toThrow(
      'newer',
    );
  });
});

describe('code that waits', () => {
  it('keeps what it has made, and hears once for each promise that nothing comes', () => {
    const { heap } = inCell().forked().state;
    expect(heap.live.map(({ name }) => name)).toEqual(['rows']);
    expect(heap).toMatchObject({ cell: null, suspended: [], opened: null });
    expect(heap.pending.map(({ answer }) => answer?.ok)).toEqual([false, false, false]);
    for (const { answer } of heap.pending)
      expect(JSON.parse(answer?.json ?? '')).toMatchObject({ code: 'left_with_original' });
    expect(quiet(inCell().forked()).calls).toEqual([{ do: 'open' }]);
  });

  it('may not act: it is refused once, and then not answered any more', () => {
    const { state } = inCell().forked();
    const first = state.heap.pending[0]?.answer ?? null;
    expect(mayAct(state, 'c1' as never, first)).toBe('refused');
    expect(mayAct(state, 'c1' as never, first && { ...first, seq: state.head + 1 })).toBe('unheard');
    expect(mayAct(state, 'c2' as never, null)).toBe('granted');
    expect(mayAct(inCell().state, 'c1' as never, first)).toBe('granted');
  });

  it('an answer that was on its way is not taken back', () => {
    const answered = inCell().settled({ ok: true }).forked().state;
    expect(answered.heap.pending.map(({ answer }) => answer?.ok)).toEqual([true, false, false]);
    expect(findEffect(answered, 'e1' as never)?.status).toBe('done');
  });
});

it('a place inside a move of the heap is rounded down to before it', () => {
  const { events } = inCell();
  const at = (kind: string) => events.find((event) => event.kind === kind)?.seq ?? 0;
  const before = at('cell.committed') - 1;
  expect(cutAt(events, at('cell.committed'))).toBe(before);
  expect(cutAt(events, at('effect.intended'))).toBe(before);
  expect(cutAt(events, at('timer.set'))).toBe(before);
  expect(cutAt(events, at('decision.requested'))).toBe(at('decision.requested'));
  for (const seq of [1, 2, 3, before, events.length]) expect(cutAt(events, seq)).toBe(seq);
});

describe('invariants', () => {
  const broken = (s: Sequence) => checkLog(s.events).map(({ invariant }) => invariant);

  it('name what a fork may not do', () => {
    const s = inCell().message('March').forked().acquired(1);
    const dispatch = s.event({ kind: 'effect.dispatched', effect: 'e1' as never, attempt: 2, epoch: 1 });
    expect(broken(dispatch)).toContain('fork.effect');
    expect(broken(s.event({ kind: 'timer.fired', timer: 't1' as never }))).toEqual(['fork.timer']);
    const made = { decision: 'd1' as never, answer: 'answer', text: 'x', by: 'ann' } as const;
    expect(broken(s.event({ kind: 'decision.made', ...made }))).toEqual(['decision.made']);
    const turn = s.event({ kind: 'turn.started', turn: 2 }).event({ kind: 'step.started', turn: 2, step: 1 });
    const read = { turn: 2, step: 1, messages: ['m2' as never] };
    expect(broken(turn.event({ kind: 'message.read', ...read }))).toEqual(['fork.message']);
    const origin = { by: 'cell', cell: 'c1' as never, guestCall: 9 } as const;
    expect(broken(s.event({ kind: 'timer.set', timer: 't2' as never, due: 1, origin }))).toEqual([
      'fork.cell',
    ]);
  });

  it('name a fork whose place is not where it stands', () => {
    const s = working();
    const body = { from: 'ses_b' as never, lineage: 'ses_b' as never, title: '', by: 'ann' };
    expect(broken(s.event({ kind: 'session.forked', head: s.state.head - 1, ...body }))).toEqual([
      'fork.prefix',
    ]);
  });
});

function by(): { title: undefined; by: string } {
  return { title: undefined, by: 'ann' };
}
