import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byCategory, categoriesOf } from '../src/report/group.js';

const entries = [
  { category: 'b', cents: 100 },
  { category: 'a', cents: 50 },
  { category: 'a', cents: 50 },
  { category: 'c', cents: 300 },
];

test('sums are by category, the largest first', () => {
  assert.deepEqual(byCategory(entries), [
    { category: 'c', cents: 300 },
    { category: 'a', cents: 100 },
    { category: 'b', cents: 100 },
  ]);
});

test('categories are by name', () => {
  assert.deepEqual(categoriesOf(entries), ['a', 'b', 'c']);
});
