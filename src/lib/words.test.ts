import { expect, test } from 'vitest';
import { asked, wordsOf } from './words.ts';

const texts = (text: string): readonly string[] => wordsOf(text).map((word) => word.text);
const exact = (text: string): readonly string[] =>
  wordsOf(text)
    .filter(({ isExact }) => isExact)
    .map((word) => word.text);

test.each([
  ['Pay INV-2031-0042 now', ['inv-2031-0042']],
  ['due 2031-04-05, at 14:30', ['2031-04-05', '14:30']],
  ['it was 1,250.00 EUR', ['1,250.00']],
  ['see src/core/event.ts', ['src/core/event.ts']],
  ['mail ann@example.com', ['ann@example.com']],
  ['commit c96a42f', ['c96a42f']],
  ['plain words only', []],
])('W2: the exact values of "%s"', (text, values) => {
  expect(exact(text)).toEqual(values);
  for (const value of values) expect(exact(`What of ${value}?`)).toContain(value);
});

test('W2: pieces of an exact value are words as well', () => {
  expect(texts('INV-2031-0042')).toEqual(['inv-2031-0042', 'inv', '2031', '0042']);
  expect(texts('invoiceTotal')).toEqual(['invoicetotal', 'invoic', 'total']);
  expect(texts('a/b-c')).toContain('a/b-c');
});

test('W2: an end of a sentence belongs to no value', () => {
  expect(exact('It is INV-7. Then 3.5.')).toEqual(['inv-7', '3.5']);
  expect(texts('one,two')).toEqual(['one', 'two']);
});

test.each([
  ['invoices', 'invoice'],
  ['deployed', 'deploy'],
  ['planning', 'plans'],
  ['companies', 'company'],
  ['prefers', 'preferred'],
  ['Rechnung', 'RECHNUNG'],
  ['résumé', 'resume'],
  ["Ann's", 'anns'],
  ['счёт', 'СЧЁТ'],
])('W1, W3: "%s" and "%s" are one word', (a, b) => expect(texts(a)).toEqual(texts(b)));

test('W3: words that only look alike stay two', () => {
  for (const [a, b] of [
    ['bus', 'bu'],
    ['status', 'statu'],
    ['ring', 'r'],
    ['class', 'clas'],
  ] as const)
    expect(texts(a)).not.toEqual(texts(b));
});

test('what is longer than any word is none, and what is around it stays', () => {
  expect(texts(`before ${'x'.repeat(200)} after`)).toEqual(['befor', 'after']);
});

test('a question is asked by what it says, and by all of it when it says nothing', () => {
  expect(asked('What was the total of the invoices?').map(({ text }) => text)).toEqual(['total', 'invoic']);
  expect(asked('What was it?').map(({ text }) => text)).toEqual(['what', 'was', 'it']);
  expect(asked('rent, rent and rent')).toHaveLength(1);
});
