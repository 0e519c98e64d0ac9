import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAmount } from '../src/money/amount.js';
import { formatAmount } from '../src/money/format.js';
import { rateOf } from '../src/money/rates.js';

test('amounts are whole cents', () => {
  assert.equal(parseAmount('12.5'), 1250);
  assert.equal(parseAmount('-0.05'), -5);
  assert.equal(parseAmount('7'), 700);
  assert.throws(() => parseAmount('1,50'), /no amount/);
});

test('amounts are shown with their currency', () => {
  assert.equal(formatAmount(123456, 'EUR'), '1,234.56 EUR');
  assert.equal(formatAmount(-5, 'USD'), '-0.05 USD');
});

test('a currency without a rate is refused', () => {
  assert.equal(rateOf('EUR', { EUR: 1 }), 1);
  assert.throws(() => rateOf('ZZZ', { EUR: 1 }), /no rate for ZZZ/);
});
