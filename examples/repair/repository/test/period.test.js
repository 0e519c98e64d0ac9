import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, isMonth, monthPeriod } from '../src/dates/period.js';

test('a month is a year and a number', () => {
  assert.equal(isMonth('2026-03'), true);
  assert.equal(isMonth('2026-13'), false);
  assert.equal(isMonth(undefined), false);
});

test('a month ends with its last day', () => {
  assert.deepEqual(monthPeriod('2026-02'), { start: '2026-02-01', end: '2026-02-28' });
  assert.deepEqual(monthPeriod('2026-03'), { start: '2026-03-01', end: '2026-03-31' });
});

test('days before and behind a month are not in it', () => {
  const march = monthPeriod('2026-03');
  assert.equal(contains(march, '2026-02-28'), false);
  assert.equal(contains(march, '2026-03-01'), true);
  assert.equal(contains(march, '2026-03-15'), true);
  assert.equal(contains(march, '2026-04-01'), false);
});
