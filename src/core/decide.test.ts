import { describe, expect, it } from 'vitest';
import { sequence } from '../testing/facts.ts';
import { answer, interrupt, pause, reopen, resume, ruleOf, send, stop } from './decide.ts';
import { OutlastError } from './error.ts';
import { phase } from './phase.ts';

const started = () => sequence().started().message('Report');
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof OutlastError) return error.code;
    throw error;
  }
  return 'accepted';
};
const options = { key: null, when: 'next' } as const;

describe('send', () => {
  it('starts a turn when none is open', () => {
    const s = started().turn().reply('Here it is').surfaced('Here it is').state;
    expect(phase(s)).toBe('awaiting_input');
    expect(send(s, 'March', options)).toMatchObject({ rule: 'starts turn 2' });
  });

  it('joins the open turn at its next step', () => {
    const s = started().turn().state;
    expect(send(s, 'and leave out tests', options)).toMatchObject({
      rule: 'joins turn 1 at its next step, or starts turn 2 if this step is its last',
    });
  });

  it('says what `now` and `later` mean for the state', () => {
    const s = started().turn().state;
    expect(ruleOf(s, 'now')).toBe('joins turn 1 at once: the generation starts again');
    expect(ruleOf(s, 'later')).toBe('starts turn 2 after the response');
  });

  it('B003: answers a repeated key with the first receipt, and refuses another text under it', () => {
    const s = started().message('March', 'key-1').state;
    expect(send(s, 'March', { key: 'key-1', when: 'next' })).toMatchObject({
      repeated: { message: 'm2', seq: 3 },
    });
    expect(codeOf(() => send(s, 'April', { key: 'key-1', when: 'next' }))).toBe('key.conflict');
  });

  it('is refused only by a session that was stopped, with the way back', () => {
    const s = started()
      .event({ kind: 'session.stopping', by: 'local' })
      .event({ kind: 'session.stopped', unknown: [] });
    expect(codeOf(() => send(s.state, 'more', options))).toBe('session.stopped');
    expect(reopen(s.state, 'local')).toEqual([{ kind: 'session.reopened', by: 'local' }]);
  });

  it('refuses what is empty or far too long', () => {
    expect(codeOf(() => send(started().state, '  \n', options))).toBe('message.invalid');
    expect(codeOf(() => send(started().state, 'x'.repeat(200_001), options))).toBe('message.invalid');
  });
});

describe('the other commands', () => {
  it('are idempotent where that is what a person means', () => {
    const s = started().state;
    expect(resume(s, 'local')).toEqual([]);
    expect(reopen(s, 'local')).toEqual([]);
    const paused = started().event({ kind: 'session.paused', by: 'local' }).state;
    expect(pause(paused, 'local')).toEqual([]);
    expect(phase(paused)).toBe('paused');
    const stopping = started().event({ kind: 'session.stopping', by: 'local' }).state;
    expect(stop(stopping, 'local')).toEqual([]);
  });

  it('interrupt names the turn, and says when there is none', () => {
    expect(interrupt(started().turn().state, 'local')).toEqual([
      { kind: 'turn.interrupted', turn: 1, by: 'local' },
    ]);
    expect(codeOf(() => interrupt(started().state, 'local'))).toBe('turn.none');
  });
});

const NOW = 1_000_000;

describe('answer', () => {
  const asked = () => started().turn().effect({ kind: 'blind' }).lost().asked();

  it('is given once, with one of the options', () => {
    const s = asked();
    expect(answer(s.state, 'd1', { answer: 'done', text: '', by: 'ada' }, NOW)).toHaveLength(1);
    expect(codeOf(() => answer(s.state, 'd1', { answer: 'approve', text: '', by: 'ada' }, NOW))).toBe(
      'decision.invalid',
    );
    expect(codeOf(() => answer(s.state, 'd9', { answer: 'done', text: '', by: 'ada' }, NOW))).toBe(
      'decision.unknown',
    );
    const made = s.event({
      kind: 'decision.made',
      decision: 'd1' as never,
      answer: 'done',
      text: '',
      by: 'ada',
    });
    expect(codeOf(() => answer(made.state, 'd1', { answer: 'not-done', text: '', by: 'bob' }, NOW))).toBe(
      'decision.closed',
    );
    expect(answer(made.state, 'd1', { answer: 'done', text: '', by: 'ada' }, NOW)).toEqual([]);
  });
});

describe('a log of a newer version', () => {
  it('B189: is readable and refused to run on', () => {
    const s = started().foreign('session.teleported').state;
    expect(phase(s)).toBe('paused');
    expect(codeOf(() => send(s, 'go on', options))).toBe('session.newer_version');
  });
});
