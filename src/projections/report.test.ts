import { describe, expect, it } from 'vitest';
import { present } from '../context/tail.ts';
import { claims } from '../core/claims.ts';
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
