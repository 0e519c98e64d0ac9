import assert from 'node:assert/strict';
import { test } from 'node:test';
import { padEnd, padStart } from '../src/text/pad.js';
import { plural } from '../src/text/plural.js';

test('text is filled up, and never cut', () => {
  assert.equal(padEnd('ab', 4), 'ab  ');
  assert.equal(padStart('ab', 4), '  ab');
  assert.equal(padEnd('abc', 2), 'abc');
});

test('one is no plural', () => {
  assert.equal(plural(1, 'entry', 'entries'), 'entry');
  assert.equal(plural(0, 'entry', 'entries'), 'entries');
});
