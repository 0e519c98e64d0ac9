import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReportCache } from '../src/cache/store.js';

test('what was made is not made again', () => {
  const cache = new ReportCache();
  let made = 0;
  const make = () => ++made;
  assert.equal(cache.get('a', make), 1);
  assert.equal(cache.get('a', make), 1);
  assert.equal(cache.get('b', make), 2);
});

test('the one that was not asked for longest goes first', () => {
  const cache = new ReportCache();
  for (let i = 0; i < 60; i++) cache.get(String(i), () => i);
  assert.equal(cache.size, 50);
  assert.equal(
    cache.get('59', () => 'again'),
    59,
  );
  assert.equal(
    cache.get('0', () => 'again'),
    'again',
  );
});
