import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf } from '../src/ledger/entries.js';
import { parseCsv } from '../src/ledger/parse.js';
import { readLedger } from '../src/ledger/read.js';

test('quotes hold commas, quotes and line ends', () => {
  assert.deepEqual(parseCsv('a,"b, c"\n"d ""e""","f\ng"\n'), [
    ['a', 'b, c'],
    ['d "e"', 'f\ng'],
  ]);
});

test('empty lines are no rows', () => {
  assert.deepEqual(parseCsv('a\r\n\r\nb\r\n'), [['a'], ['b']]);
});

test('a ledger is read with its comments left out', () => {
  const entries = readLedger(new URL('fixtures/ledger.csv', import.meta.url));
  assert.equal(entries.length, 8);
  assert.deepEqual(entries[3], { day: '2026-03-09', category: 'supplies', text: 'ink "black"', cents: 3135 });
});

test('what is no ledger is refused', () => {
  assert.throws(() => entriesOf('day,amount\n'), /the first line is/);
  assert.throws(() => readLedger(new URL('fixtures/broken.csv', import.meta.url)), /there is no 2026-02-30/);
});
