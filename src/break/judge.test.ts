/** The judge is only as good as what it sees: each kind of wrong, once, and what is not wrong. */

import { describe, expect, it } from 'vitest';
import type { Event, EventBody } from '../core/event.ts';
import { type Case, judge } from './judge.ts';
import { fewestQuestions } from './questions.ts';
import type { Entry } from './world.ts';

const row = (at: number, undoneAt: number | null = null, what = 'r1.a'): Entry => ({ what, at, undoneAt });

const log = (...bodies: readonly (readonly [number, Partial<EventBody> & { kind: EventBody['kind'] }])[]) =>
  bodies.map(([at, body], i) => ({ ...body, seq: i + 1, at }) as unknown as Event);

const intended = { kind: 'effect.intended', effect: 'e1', args: { what: 'r1.a' } } as never;
const dispatched = (attempt = 1) => ({ kind: 'effect.dispatched', effect: 'e1', attempt, epoch: 1 }) as never;
const settled = (status: 'done' | 'failed' | 'unknown', attempt = 1) =>
  ({ kind: 'effect.settled', effect: 'e1', attempt, outcome: { status } }) as never;
const found = (status: 'done' | 'absent') =>
  ({ kind: 'effect.reconciled', effect: 'e1', evidence: 'person', finding: { status } }) as never;
const asked = { kind: 'decision.requested', about: 'unknown', decision: 'd1', effect: 'e1' } as never;

const one = (changes: Partial<Case>): Case => ({
  wanted: new Map([['r1.a', 1]]),
  entries: [row(10)],
  told: [{ at: 30, text: 'r1.a: 1 done, 0 not done, 0 unknown' }],
  logs: [log([5, intended], [6, dispatched()], [20, settled('done')])],
  about: (args) => [(args as { what: string }).what],
  capability: { kind: 'blind' },
  ...changes,
});

describe('the judge', () => {
  it('finds nothing where there is nothing', () => {
    expect(judge(one({}))).toEqual({
      ...{
        duplicates: 0,
        transient: 0,
        lost: 0,
        suppressed: 0,
        untrue: 0,
        questions: 0,
        questionsMinimum: 0,
      },
      findings: [],
    });
  });

  it('sees what stands twice, and that the person was told of one', () => {
    expect(judge(one({ entries: [row(10), row(12)] }))).toMatchObject({ duplicates: 1, untrue: 1, lost: 0 });
  });

  it('sees what arrives after the answer: the last word does not hold', () => {
    expect(judge(one({ entries: [row(10), row(99)] }))).toMatchObject({ duplicates: 1, untrue: 1 });
  });

  it('does not count what was undone, and tells it apart', () => {
    expect(judge(one({ entries: [row(10), row(12, 25)] }))).toMatchObject({
      ...{ duplicates: 0, transient: 1, untrue: 0 },
    });
  });

  it('sees that an answer came while an extra stood', () => {
    expect(judge(one({ entries: [row(10), row(12, 40)] }))).toMatchObject({ duplicates: 0, untrue: 1 });
  });

  it('sees what is lost, with and without a word about it', () => {
    const silent = { told: [{ at: 30, text: 'r1.a: 0 done, 1 not done, 0 unknown' }], logs: [] };
    expect(judge(one({ entries: [], ...silent }))).toMatchObject({ lost: 1, untrue: 0 });
    expect(judge(one({ entries: [] }))).toMatchObject({ lost: 1, untrue: 1 });
  });

  it('sees a failure in the ledger that stands in the books, whoever is told what', () => {
    const logs = [log([5, intended], [6, dispatched()], [20, settled('failed')])];
    expect(judge(one({ logs }))).toMatchObject({ lost: 0, untrue: 1 });
    expect(judge(one({ logs, entries: [row(25)] }))).toMatchObject({ untrue: 0 });
  });

  it('goes by the order of things within one millisecond: absent, then sent, then done', () => {
    const absent = { kind: 'effect.reconciled', effect: 'e1', finding: { status: 'absent' } } as never;
    const logs = [
      log([5, intended], [6, dispatched()], [10, absent], [10, dispatched(2)], [10, settled('done', 2)]),
    ];
    expect(judge(one({ logs })).untrue).toBe(0);
    expect(judge(one({ logs, entries: [row(9)] })).untrue).toBe(1);
  });

  it('never calls unknown untrue', () => {
    const told = [{ at: 30, text: 'r1.a: 0 done, 0 not done, 1 unknown' }];
    const logs = [log([5, intended], [6, dispatched()], [20, settled('unknown')])];
    for (const entries of [[], [row(10)]]) {
      expect(judge(one({ told, logs, entries })).untrue).toBe(0);
    }
  });

  it('sees a wanted repeat that was swallowed', () => {
    const told = [{ at: 30, text: 'r1.a: 2 done, 0 not done, 0 unknown' }];
    const wanted = new Map([['r1.a', 2]]);
    expect(judge(one({ wanted, told, logs: [] }))).toMatchObject({ lost: 1, suppressed: 1, untrue: 1 });
    expect(judge(one({ wanted, told, logs: [], entries: [row(8), row(10)] }))).toMatchObject({
      ...{ lost: 0, suppressed: 0, untrue: 0, duplicates: 0 },
    });
  });
});

describe('the fewest questions', () => {
  const doubtful = log([5, intended], [6, dispatched()], [50, asked]);

  it('is one for a blind effect without its answer, and none with it', () => {
    expect(fewestQuestions(doubtful, { kind: 'blind' })).toBe(1);
    expect(
      fewestQuestions(log([5, intended], [6, dispatched()], [7, settled('done')]), { kind: 'blind' }),
    ).toBe(0);
    expect(fewestQuestions(log([5, intended]), { kind: 'blind' })).toBe(0);
  });

  it('goes by the service and not by what was declared', () => {
    expect(fewestQuestions(doubtful, { kind: 'queryable', lateMs: 5 })).toBe(0);
    expect(fewestQuestions(doubtful, { kind: 'cancelable', lateMs: 5 })).toBe(0);
  });

  it('is one for a key that was forgotten when the question was asked', () => {
    expect(fewestQuestions(doubtful, { kind: 'keyed', retentionMs: 40 })).toBe(1);
    expect(fewestQuestions(doubtful, { kind: 'keyed', retentionMs: 1_000 })).toBe(0);
  });

  it.each([
    ['blind', { kind: 'blind' }],
    ['keyed', { kind: 'keyed', retentionMs: 40 }],
  ] as const)('is one for each sending of a %s effect, however often it is asked about', (_, able) => {
    const first = [
      [5, intended],
      [6, dispatched()],
      [50, asked],
    ] as const;
    expect(fewestQuestions(log(...first, [51, asked]), able)).toBe(1);
    const twice = { ...one({}), logs: [log(...first, [51, asked])], capability: able };
    expect(judge(twice)).toMatchObject({ questions: 2, questionsMinimum: 1 });
    // A person says that it is not there; it is sent once more, and that answer is lost as well.
    const again = [
      [52, found('absent')],
      [53, dispatched(2)],
      [100, asked],
    ] as const;
    expect(fewestQuestions(log(...first, ...again), able)).toBe(2);
    expect(fewestQuestions(log(...first, ...again, [101, asked]), able)).toBe(2);
  });

  it('is none for what is answered, asked about all the same', () => {
    for (const able of [{ kind: 'blind' }, { kind: 'keyed', retentionMs: 40 }] as const) {
      const sent = [
        [5, intended],
        [6, dispatched()],
      ] as const;
      expect(fewestQuestions(log(...sent, [9, settled('done')], [50, asked]), able)).toBe(0);
      const handedIn = { kind: 'evidence.received', effect: 'e1', attempt: 1 } as never;
      expect(fewestQuestions(log(...sent, [9, handedIn], [50, asked]), able)).toBe(0);
    }
  });

  it('counts the age of a key from its first sending, and anew once nothing stands under it', () => {
    const able = { kind: 'keyed', retentionMs: 40 } as const;
    const repeated = [
      [5, intended],
      [6, dispatched()],
      [30, dispatched(2)],
    ] as const;
    expect(fewestQuestions(log(...repeated, [50, asked]), able)).toBe(1);
    const anew = [
      [48, found('absent')],
      [49, dispatched(3)],
      [60, asked],
    ] as const;
    expect(fewestQuestions(log(...repeated, [47, asked], ...anew), able)).toBe(1);
  });
});
