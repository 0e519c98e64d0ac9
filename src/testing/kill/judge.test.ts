/** The judge of the kill campaign is only as good as what it sees: each kind of wrong once, and what is not wrong. */

import { describe, expect, it } from 'vitest';
import type { Event, EventBody } from '../../core/event.ts';
import { ALLOWED, ASKS } from '../facts.ts';
import { type Batch, pathOf, SERVICES, type ServiceName } from './batch.ts';
import type { Arrival, Row } from './books.ts';
import { type Case, judge } from './judge.ts';
import { tallies } from './tally.ts';

const WHAT = 'r1.1.1';

const log = (...bodies: readonly (readonly [number, object & { kind: EventBody['kind'] }])[]) =>
  bodies.map(([at, body], i) => ({ ...body, seq: i + 1, at }) as unknown as Event);

const batch = (service: ServiceName, asks = false): Batch => ({
  ...{ id: 'r1.1', shape: 'row' },
  wanted: [{ service, what: WHAT, asks }],
});

const row = (service: ServiceName, at: number, changes: Partial<Row> = {}): Row => ({
  ...{ service, id: 1, what: WHAT, reference: 'ses.e1', undoes: null, at },
  ...changes,
});

const arrival = (service: ServiceName, at: number): Arrival => ({ service, at, epoch: 1, what: WHAT });

const KEYED = { kind: 'keyed', retentionMs: 100 };

const intended = (service: ServiceName, capability: object = { kind: 'blind' }, asks = false) =>
  ({
    ...({ kind: 'effect.intended', effect: 'e1', capability } as const),
    ...{ origin: { by: 'call', call: 'c1' }, tool: 'fetch', target: 'outside', identity: null, digest: 'd' },
    policy: asks ? ASKS : ALLOWED,
    args: { url: `http://outside${pathOf({ service, asks })}`, body: JSON.stringify({ what: WHAT }) },
  }) as const;
const dispatched = (attempt = 1) =>
  ({ kind: 'effect.dispatched', effect: 'e1', attempt, epoch: attempt }) as const;
const settled = (status: 'done' | 'failed' | 'unknown', attempt = 1) =>
  ({ kind: 'effect.settled', effect: 'e1', attempt, outcome: { status } }) as const;
const asked = { kind: 'decision.requested', decision: 'd1', effect: 'e1', about: 'unknown' } as const;
const approval = { ...asked, about: 'approval' } as const;

const one = (service: ServiceName, changes: Partial<Case> = {}): Case => ({
  batches: [batch(service)],
  rows: [row(service, 10)],
  arrivals: [arrival(service, 8)],
  approvals: new Map(),
  followed: [],
  log: log([5, intended(service)], [6, dispatched()], [20, settled('done')]),
  ...{ inspection: null, verification: null, stuck: [] },
  ...changes,
});

const NOTHING = { duplicates: [], lost: [], untrue: [], questions: 0, questionsMinimum: 0 };
const ofApprovals = (verdict: ReturnType<typeof judge>): readonly string[] =>
  verdict.broken.filter((finding) => finding.includes('was sent at'));

describe.each(SERVICES)('the judge of %s', (service) => {
  it('finds nothing where there is nothing', () => {
    expect(judge(one(service))).toMatchObject(NOTHING);
  });

  it('finds what stands twice, what does not stand, and what nobody wanted', () => {
    const twice = [row(service, 10), row(service, 11, { id: 2 })];
    expect(judge(one(service, { rows: twice })).duplicates).toEqual([`${service} ${WHAT} stands 2 times`]);
    expect(judge(one(service, { rows: [] })).lost).toHaveLength(1);
    expect(judge(one(service, { batches: [] })).duplicates).toHaveLength(1);
  });

  it('finds a receipt that came before the row', () => {
    expect(judge(one(service, { rows: [row(service, 30)] })).untrue).toHaveLength(1);
  });
});

describe('what was undone', () => {
  const rows = [
    row('cancelable', 10),
    row('cancelable', 12, { id: 2 }),
    row('cancelable', 40, { id: 3, undoes: 2 }),
  ];

  it('is no duplicate, and has to be told', () => {
    const verdict = judge(one('cancelable', { rows }));
    expect(verdict.duplicates).toEqual([]);
    expect(verdict.untrue).toEqual([expect.stringContaining('was undone and not told')]);
    const told = {
      ...({ kind: 'effect.reconciled', effect: 'e1' } as const),
      ...{ evidence: 'audited', finding: { status: 'done' }, note: 'One extra was undone.' },
    } as const;
    const events = log([5, intended('cancelable')], [6, dispatched()], [50, told]);
    expect(judge(one('cancelable', { rows, log: events })).untrue).toEqual([]);
    expect(tallies(events, rows).cancelable).toMatchObject({ undone: 1, inDoubt: 1 });
  });
});

describe('questions', () => {
  it('of a key that is still known are too many, and of a forgotten one the minimum', () => {
    const inDoubt = (at: number) => log([5, intended('expiring', KEYED)], [6, dispatched()], [at, asked]);
    expect(judge(one('expiring', { log: inDoubt(90) }))).toMatchObject({ questions: 1, questionsMinimum: 0 });
    expect(judge(one('expiring', { log: inDoubt(106) }))).toMatchObject({
      questions: 1,
      questionsMinimum: 1,
    });
  });

  it('about one sending are too many when there are two of them', () => {
    for (const [service, capability] of [
      ['expiring', KEYED],
      ['blind', { kind: 'blind' }],
    ] as const) {
      const events = log([5, intended(service, capability)], [6, dispatched()], [106, asked], [107, asked]);
      expect(judge(one(service, { log: events }))).toMatchObject({ questions: 2, questionsMinimum: 1 });
    }
  });

  it('do not count approvals', () => {
    const events = log([5, intended('blind', { kind: 'blind' }, true)], [5, approval]);
    expect(judge(one('blind', { log: events }))).toMatchObject({ questions: 0, questionsMinimum: 0 });
  });
});

describe('what is asked about before', () => {
  const asks = (changes: Partial<Case>): Case =>
    one('keyed', { batches: [batch('keyed', true)], ...changes });
  const said = (answer: 'approve' | 'reject', at: number) => new Map([[WHAT, { answer, at }]]);

  it('may leave after a yes', () => {
    expect(ofApprovals(judge(asks({ approvals: said('approve', 7) })))).toEqual([]);
  });

  it('is found when it leaves before, after a no, or unasked', () => {
    for (const approvals of [said('approve', 9), said('reject', 7), new Map()])
      expect(ofApprovals(judge(asks({ approvals })))).toHaveLength(1);
  });

  it('is not lost after a no, and is not to stand', () => {
    const approvals = said('reject', 7);
    expect(judge(asks({ approvals, rows: [], arrivals: [] })).lost).toEqual([]);
    expect(judge(asks({ approvals })).duplicates).toHaveLength(1);
  });
});

describe('the tally', () => {
  it('counts each kind by itself: sendings, those in doubt, questions', () => {
    const events = log(
      [5, intended('blind')],
      [6, dispatched()],
      [30, asked],
      [40, dispatched(2)],
      [50, settled('done', 2)],
    );
    const all = tallies(events, [row('blind', 45)]);
    expect(all.blind).toEqual({ effects: 1, sendings: 2, inDoubt: 1, questions: 1, undone: 0 });
    expect(all.keyed.effects).toBe(0);
  });
});
