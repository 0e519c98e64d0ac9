/** The running total: R1 to R3, and what a crash leaves of it. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { revision } from '../../break/revision.ts';
import {
  added,
  type Invocation,
  keepResults,
  nextRound,
  noTotals,
  readResults,
  seedIn,
  sumOf,
} from './results.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outlast-results-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function invocation(id: string, changes: Partial<Invocation> & { kills?: number } = {}): Invocation {
  const { kills = 10, ...others } = changes;
  const totals = { ...noTotals(), kills, rounds: 1 };
  const at = '2026-03-02T00:00:00.000Z';
  return {
    ...{ id, code: 'a', campaign: 'c', seed: 7, startedAt: at, endedAt: at, workers: 2, lastRound: 3 },
    ...{ totals, failures: [], ...others },
  };
}

const file = (): string => join(folder, 'total.json');
const kept = (): { all: { kills: number }; byCode: readonly { code: string; kills: number }[] } =>
  JSON.parse(readFileSync(file(), 'utf8'));

it('adds up what invocations bring, over all and over each code apart', () => {
  keepResults(file(), invocation('one'));
  keepResults(file(), invocation('two', { code: 'b', kills: 5 }));
  keepResults(file(), invocation('three', { kills: 2 }));
  expect(kept().all.kills).toBe(17);
  expect(kept().byCode.map(({ code, kills }) => [code, kills])).toEqual([
    ['a', 12],
    ['b', 5],
  ]);
});

it('replaces the entry of an invocation that goes on', () => {
  keepResults(file(), invocation('one'));
  keepResults(file(), invocation('one', { kills: 20 }));
  expect(sumOf(readResults(file()).invocations).kills).toBe(20);
});

it('goes on with the newest seed, behind the last round that was counted', () => {
  const empty = readResults(file());
  expect([seedIn(empty), nextRound(empty, 7)]).toEqual([null, 1]);
  keepResults(file(), invocation('one', { lastRound: 12 }));
  keepResults(file(), invocation('two', { seed: 8, lastRound: 4 }));
  const results = readResults(file());
  expect([seedIn(results), nextRound(results, 7), nextRound(results, 8)]).toEqual([8, 13, 5]);
});

it('keeps no entry of an invocation that has judged nothing', () => {
  keepResults(file(), invocation('one'));
  keepResults(file(), { ...invocation('two'), totals: noTotals() });
  expect(readResults(file()).invocations.map(({ id }) => id)).toEqual(['one']);
});

it('refuses a file that it cannot read, and leaves it as it is', () => {
  writeFileSync(file(), '{"invocations":');
  expect(() => keepResults(file(), invocation('one'))).toThrow();
  expect(readFileSync(file(), 'utf8')).toBe('{"invocations":');
});

it('refuses a file of another kind', () => {
  writeFileSync(file(), '{"totals":{"kills":1000}}');
  expect(() => readResults(file())).toThrow('no running total');
});

it('adds each number of each kind', () => {
  const some = noTotals();
  const kinds = { ...some.kinds, batch: { ...some.kinds.batch, effects: 3 } };
  const both = added({ ...some, questions: 1, kinds }, { ...some, questions: 2, kinds });
  expect([both.questions, both.kinds.batch.effects, both.kinds.blind.effects]).toEqual([3, 6, 0]);
});

it('tells the code under test from what tests it, by contents', () => {
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('core/next.js', '1');
  write('testing/kill/judge.js', '1');
  const before = revision(folder);
  write('testing/kill/judge.js', '2');
  const other = revision(folder);
  expect(other.code).toBe(before.code);
  expect(other.campaign).not.toBe(before.campaign);
  write('core/next.js', '2');
  expect(revision(folder).code).not.toBe(before.code);
});
