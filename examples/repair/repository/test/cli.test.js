import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { main } from '../src/cli/main.js';

const fixture = (name) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

function tally(...args) {
  const out = [];
  const err = [];
  const code = main(args, { write: (text) => out.push(text), complain: (text) => err.push(text) });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

test('a report is a table', () => {
  assert.deepEqual(tally('report', fixture('ledger.csv'), '--month', '2026-03').out.split('\n'), [
    'Expenses of 2026-03',
    '----------------------',
    'rent        900.00 EUR',
    'travel       97.15 EUR',
    'supplies     56.25 EUR',
    '----------------------',
    'Total     1,053.40 EUR',
    '5 entries',
  ]);
});

test('categories are listed', () => {
  const { code, out } = tally('categories', fixture('ledger.csv'));
  assert.equal(code, 0);
  assert.equal(out, 'rent\nsupplies\ntravel');
});

test('the exit code says how it went', () => {
  const currencies = ['--currency', 'USD', '--currency', 'EUR'];
  const both = tally('report', fixture('ledger.csv'), '--month', '2026-03', ...currencies);
  assert.match(both.out, /^Total +1,142\.94 USD$/m);
  assert.match(both.out, /^Total +1,053\.40 EUR$/m);
  assert.equal(both.code, 0);
  assert.equal(tally('report', fixture('ledger.csv'), '--month', '2025-01').code, 1);
  assert.equal(tally('report', fixture('broken.csv'), '--month', '2026-03').code, 3);
  assert.equal(tally('report', fixture('ledger.csv'), '--month', 'March').code, 2);
});
