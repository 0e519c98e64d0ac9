import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReportCache } from '../src/cache/store.js';
import { DEFAULTS } from '../src/config/defaults.js';
import { readLedger } from '../src/ledger/read.js';
import { makeReport } from '../src/report/report.js';

const file = new URL('fixtures/ledger.csv', import.meta.url);
const entries = readLedger(file);
const ask = (month, currency, cache = new ReportCache()) =>
  makeReport({ file: file.pathname, entries, month, currency, rates: DEFAULTS.rates }, cache);

test('the last day of a month belongs to it', () => {
  assert.equal(ask('2026-03', 'EUR').count, 5);
  assert.equal(ask('2026-02', 'EUR').count, 2);
});

test('sums in another currency are to the nearest cent', () => {
  const report = ask('2026-03', 'USD');
  assert.equal(report.count, 5);
  const cents = Object.fromEntries(report.totals.rows.map((row) => [row.category, row.cents]));
  assert.equal(cents.supplies, 6103);
  assert.equal(cents.travel, 10541);
  assert.equal(report.totals.cents, 114294);
});

test('the same month in another currency is another report', () => {
  const cache = new ReportCache();
  const dollars = ask('2026-03', 'USD', cache);
  assert.equal(dollars.totals.cents, 114294);
  const euros = ask('2026-03', 'EUR', cache);
  assert.equal(euros.totals.cents, 105340);
  assert.equal(ask('2026-03', 'USD', cache), dollars);
});
