// Owns: what counts as being there. Given calls and a present, then facts.
import { expect, test } from 'vitest';
import { description } from '../../services/billing/description.ts';
import { factsOf } from './facts.ts';
import type { Called, Note, Observations } from './observations.ts';

const ORIGIN = 'http://127.0.0.1:4801';
const owner = { name: 'Mira', email: 'mira@example.com' };
const account = {
  id: 'a1',
  name: 'Acme',
  utcOffset: '-05:00',
  utcOffsetMinutes: -300,
  currency: 'USD',
  owner,
};

const done = (note: Note, data: object = {}): Called => ({
  ...{ kind: 'called', turn: 1, askedIn: 1, status: 'done', text: '' },
  ...{ note, data: { cell: note.cell, ...data } },
});
const failed = (note: Note, text: string): Called => ({ ...done(note), status: 'failed', text, data: null });

const MANUAL: Note = { cell: 'describe', service: 'billing', lost: false };
const DESCRIBED = done(MANUAL, { text: JSON.stringify(description) });
const FOUND = done({ cell: 'find', name: 'Acme', lost: false }, { account, names: ['Acme'] });
const OPENED = done({ cell: 'open', origin: ORIGIN, lost: false });
const LOAD: Note = { cell: 'load', month: '2026-02', defines: true, lost: false };
const LOADED = done(LOAD);
const REPORT: Note = { cell: 'report', month: '2026-02', leaveOut: [], defines: true, lost: false };
const ALL = [DESCRIBED, FOUND, OPENED, LOADED];
const NAMES = ['account', 'client', 'identity', 'months', 'loadMonth', 'summarise'];

function facts(entries: readonly Called[], names = NAMES, origin = ORIGIN) {
  const live = new Map(names.map((name) => [name, 'Object']));
  const seen: Observations = {
    ...{ entries, turn: 2, operatorsAccount: 'Acme', hasSandbox: true },
    present: { time: null, live, unknown: [] },
    services: new Map([['billing', origin]]),
  };
  return factsOf(seen, 'Acme');
}

const there = (one: ReturnType<typeof facts>) => ({
  account: one.hasAccount,
  client: one.hasClient,
  rows: one.hasRows('2026-02'),
});
const EVERYTHING = { account: true, client: true, rows: true };
const NOTHING = { account: false, client: false, rows: false };

test('what was made and is listed is there', () => {
  expect(there(facts(ALL))).toEqual(EVERYTHING);
  expect(facts(ALL).hasRows('2026-03')).toBe(false);
});

test('without its client nothing is loaded; without the account nothing is there (A1)', () => {
  expect(there(facts(ALL, ['account', 'months', 'loadMonth']))).toEqual({ ...NOTHING, account: true });
  expect(facts(ALL, ['account']).isClientLost).toBe(true);
  expect(there(facts(ALL, []))).toEqual(NOTHING);
  expect(facts(ALL, []).isAccountLost).toBe(true);
});

test('what another model made under our names is not ours (A1)', () => {
  expect(there(facts([DESCRIBED]))).toEqual(NOTHING);
  expect(there(facts(ALL.map((call) => ({ ...call, note: null }))))).toEqual(NOTHING);
});

test('what is listed and was missed by a cell is not there, nor is anything else of that heap (A1)', () => {
  const missed = failed(REPORT, 'ReferenceError: months is not defined\n    at summarise (c5:3)');
  expect(there(facts([...ALL, missed]))).toEqual(NOTHING);
  const quoted = failed(REPORT, 'Error: HTTP 400: ReferenceError: months is not defined');
  expect(there(facts([...ALL, quoted]))).toEqual(EVERYTHING);
});

test('rows are gone with the Map they lay in (A2)', () => {
  const march = done({ ...LOAD, month: '2026-03' });
  expect(there(facts([...ALL, march]))).toEqual({ ...EVERYTHING, rows: false });
  expect(there(facts([...ALL, failed(REPORT, 'Error: The rows of 2026-02 are gone')])).rows).toBe(false);
  expect(there(facts([...ALL, OPENED])).rows).toBe(false);
});

test('a client of a service that has moved is of no use', () => {
  const moved = facts(ALL, NAMES, 'http://127.0.0.1:4999');
  expect(there(moved)).toEqual({ ...NOTHING, account: true });
  expect(moved).toMatchObject({ hasMoved: true, isClientLost: false });
});

test('a record without the field that the description names is no account (A3)', () => {
  const { utcOffsetMinutes: _, ...without } = account;
  const odd = done({ cell: 'find', name: 'Acme', lost: false }, { account: without, names: ['Acme'] });
  expect(facts([DESCRIBED, odd]).lookup).toMatchObject({ account: null, isOdd: true });
});

test('a report without its numbers is none (A3)', () => {
  const numbers = {
    currency: 'USD',
    count: 1,
    totalCents: 5,
    byCustomer: [],
    leftOut: [],
    localDateElsewhere: 0,
  };
  expect(facts([...ALL, done(REPORT, numbers)]).report('2026-02', [], 1)).toMatchObject({ totalCents: 5 });
  expect(facts([...ALL, done(REPORT, numbers)]).report('2026-02', [], 2)).toBeNull();
  expect(facts([...ALL, done(REPORT, { ...numbers, totalCents: null })]).report('2026-02', [], 1)).toBeNull();
});
