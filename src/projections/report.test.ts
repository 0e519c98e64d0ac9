import { describe, expect, it } from 'vitest';
import { present } from '../context/tail.ts';
import { NOTHING_SPENT } from '../core/budget/budget.ts';
import { claims } from '../core/claims.ts';
import type { EventBody } from '../core/event.ts';
import type { EffectId, MessageId, SessionId } from '../core/ids.ts';
import { next } from '../core/next.ts';
import { type Sequence, sequence } from '../testing/facts.ts';
import { report } from './report.ts';

const BLIND = { kind: 'blind' } as const;
const KEYED = { kind: 'keyed', retentionMs: 3_600_000 } as const;
const working = (): Sequence => sequence().started().acquired(1).message('Pay the rent').turn();
const lines = ({ state }: Sequence, kind: string) =>
  report(state)
    .lines.filter((line) => line.kind === kind)
    .map(({ fate, what }) => `${fate}: ${what}`);

describe('the recovery report', () => {
  it('says that nothing was lost while nothing was', () => {
    const s = working();
    expect(report(s.state)).toMatchObject({ losses: 0, last: null });
    expect(present(s.state)).not.toContain('recovery report');
  });

  it('names what was in flight, unknown until there is evidence', () => {
    const lost = working().effect(BLIND).lost();
    expect(report(lost.state)).toMatchObject({ losses: 1, last: { head: 9 } });
    expect(lines(lost, 'effects')).toEqual(['unknown: e1 (pay service) may have happened or not']);
    const known = lost.asked().event({
      kind: 'effect.reconciled',
      effect: 'e1' as never,
      finding: { status: 'done', result: { id: 7 } },
      evidence: 'person',
      note: 'ann said so',
    });
    expect(report(known.state).lines).toContainEqual({
      kind: 'effects',
      fate: 're-observed',
      what: 'e1 (pay service) is done',
      evidence: 'ann said so',
    });
  });

  it('tells of a reply that was cut, and the model reads it until it has answered', () => {
    const lost = working().lost();
    expect(lines(lost, 'transcript')).toEqual([
      'survived: 1 item',
      'lost: the reply of step 1, which was being written',
    ]);
    expect(present(lost.state)).toContain('recovery report');
    const answered = lost.reply('Done.').surfaced('Done.').message('and now?').turn();
    expect(present(answered.state)).not.toContain('recovery report');
    expect(report(answered.state).losses).toBe(1);
  });

  it('a crash during recovery hides nothing of the crash before it', () => {
    const twice = working().effect(BLIND).lost().lost();
    expect(report(twice.state)).toMatchObject({ losses: 2, last: { head: 9 } });
    expect(lines(twice, 'effects')).toEqual(['unknown: e1 (pay service) may have happened or not']);
  });

  it('tells of children at work, of one that has told since, and counts those at rest', () => {
    const of = (n: number) => ({ effect: `e${n}` as EffectId, child: `ses_${n}` as SessionId });
    const spawned = (n: number): EventBody => ({
      ...{ kind: 'child.spawned', ...of(n), title: `part ${n}`, message: `m${n}` as MessageId },
      waits: false,
    });
    const told = (n: number, result: boolean): EventBody => ({
      ...{ kind: 'child.reported', child: of(n).child },
      standing: { asOf: 9, status: 'open', questions: [], unknown: [], spent: NOTHING_SPENT },
      result: result
        ? {
            ...{ seq: 8, turn: 1, end: 'surfaced', text: 'it is done' },
            ...{ answers: [`m${n}` as MessageId], claims: [], partial: [] },
          }
        : null,
    });
    const before = [1, 2, 3].reduce((s, n) => s.event(spawned(n)), working()).event(told(1, true));
    expect(lines(before, 'children')).toHaveLength(3);
    const lost = before.event(told(2, false)).lost();
    const atWork = (n: number) =>
      `survived: Child ses_${n} ("part ${n}") is at work, 1 order without a result`;
    expect(lines(lost, 'children')).toEqual([atWork(2), atWork(3), 'survived: 1 at rest']);
    expect(present(lost.state)).toContain(
      `- children, ${atWork(3)}: e3 fixes its id, so none is started twice`,
    );
    const since = lost.event(told(3, true));
    expect(lines(since, 'children')).toEqual([
      atWork(2),
      're-observed: Child ses_3 ("part 3") answered',
      'survived: 1 at rest',
    ]);
    expect(report(since.state).lines).toContainEqual(
      expect.objectContaining({
        fate: 're-observed',
        evidence: `it has told so itself (event ${since.state.head})`,
      }),
    );
  });

  it('of very many children it names some, and counts the rest', () => {
    const many = Array.from({ length: 15 }, (_, n) => n + 1).reduce(
      (s, n) =>
        s.event({
          ...{ kind: 'child.spawned', effect: `e${n}` as EffectId, child: `ses_${n}` as SessionId },
          ...{ message: `m${n}` as MessageId, title: 'part', waits: false },
        }),
      working(),
    );
    const told = lines(many.lost(), 'children');
    expect(told).toHaveLength(13);
    expect(told.at(-1)).toBe('survived: 3 more at work');
  });

  it('tells what became of compacted lines, of a compaction that was cut off, and of the index of words', () => {
    const index = 'rebuilt: the index of words';
    expect(lines(working(), 'derived context')).toEqual([index]);
    const compacted = working()
      .reply('Done.')
      .surfaced('Done.')
      .message('and now?')
      .event({
        ...{ kind: 'context.compacted', items: 1, by: 'model', why: 'window', charge: null },
        lines: [{ kind: 'fact', text: 'the rent is paid', sources: [3] }],
        ...{ tokensBefore: 100, tokensAfter: 10 },
      });
    const kept = 'survived: 1 compacted line for 1 item';
    expect(lines(compacted.lost(), 'derived context')).toEqual([kept, index]);
    const cut = compacted.event({ kind: 'compaction.started', items: 1, why: 'window' }).lost();
    const lost = 'lost: the compaction that was under way';
    expect(lines(cut, 'derived context')).toEqual([kept, lost, index]);
    expect(present(cut.state)).toContain(`- derived context, ${lost}: none stands in the log`);
    expect(lines(cut.lost(), 'derived context')).toEqual([kept, lost, index]);
  });

  it('a holder that lets go by itself loses nothing', () => {
    const s = working().reply('Done.').surfaced('Done.').acquired(2);
    expect(report(s.state)).toMatchObject({ losses: 0, last: null });
  });
});

describe('claims', () => {
  const surfacing = ({ state }: Sequence) => {
    const choice = next(state, state.at).choices.find(({ kind }) => kind === 'response.surfaced');
    return choice?.kind === 'response.surfaced' ? choice.claims : null;
  };
  const answering = (s: Sequence, text: string): Sequence => {
    const { number, steps } = s.state.turn as { number: number; steps: number };
    return s.event({ kind: 'step.started', turn: number, step: steps + 1 }).reply(text);
  };

  it('go out with the response, whatever the prose says', () => {
    const s = answering(working().effect(KEYED).settled({ receipt: 'R-7' }), 'I did nothing at all.');
    expect(surfacing(s)).toEqual([
      { effect: 'e1', tool: 'pay', target: 'pay service', status: 'done', receipt: '{"receipt":"R-7"}' },
    ]);
  });

  it('are told once when settled, and each time while unknown', () => {
    const unknown = working().effect(BLIND).lost().asked();
    expect(claims(unknown.state)).toMatchObject([{ effect: 'e1', status: 'unknown' }]);
    const told = unknown.event({
      kind: 'turn.failed',
      turn: 1,
      code: 'x',
      reason: 'x',
      claims: claims(unknown.state),
    });
    expect(claims(told.state)).toMatchObject([{ effect: 'e1', status: 'unknown' }]);
    const known = told.event({
      kind: 'effect.reconciled',
      effect: 'e1' as never,
      finding: { status: 'failed', code: 'rejected', message: 'It did not happen' },
      evidence: 'person',
      note: 'ann said so',
    });
    expect(claims(known.state)).toMatchObject([{ effect: 'e1', status: 'failed' }]);
    const next = known.message('so?').turn().reply('No.').surfaced('No.');
    expect(claims(next.state)).toEqual([]);
  });

  it('an interrupted turn has told nobody: what it did is told by the next one', () => {
    const s = working().effect(KEYED).settled({ ok: true });
    const interrupted = s.event({ kind: 'turn.interrupted', turn: 1, by: 'ann' });
    expect(claims(interrupted.state)).toMatchObject([{ effect: 'e1', status: 'done' }]);
  });

  it('a correction by late evidence is told once more', () => {
    const rejected = working()
      .effect(BLIND)
      .lost()
      .asked()
      .event({
        kind: 'effect.reconciled',
        effect: 'e1' as never,
        finding: { status: 'failed', code: 'rejected', message: 'It did not happen' },
        evidence: 'person',
        note: 'ann said so',
      });
    const told = rejected.event({ kind: 'turn.failed', turn: 1, code: 'x', reason: 'x', claims: [] });
    expect(claims(told.state)).toEqual([]);
    const late = told.event({
      kind: 'evidence.received',
      effect: 'e1' as never,
      epoch: 1,
      attempt: 1,
      outcome: { status: 'done', result: { id: 7 } },
    });
    expect(claims(late.state)).toMatchObject([{ effect: 'e1', status: 'done' }]);
  });

  it('reads claim nothing', () => {
    const s = working().effect({ kind: 'read' }).settled({ rows: 3 });
    expect(claims(s.state)).toEqual([]);
  });
});
