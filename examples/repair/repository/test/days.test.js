import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysIn, parseDay } from '../src/dates/days.js';

test('a day is text that sorts', () => {
  assert.equal(parseDay(' 2026-03-31 '), '2026-03-31');
  assert.throws(() => parseDay('31.3.2026'), /no day/);
});

test('days that are not there are refused', () => {
  assert.throws(() => parseDay('2026-02-29'), /there is no/);
  assert.equal(parseDay('2028-02-29'), '2028-02-29');
  assert.equal(daysIn(2026, 13), 0);
});
