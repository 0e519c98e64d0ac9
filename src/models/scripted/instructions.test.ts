// Owns: which words a person can use. What is not in these tables is refused.
import { describe, expect, test } from 'vitest';
import { hear } from './instructions.ts';
import { resolveMonth } from './months.ts';

const report = (month: number | null, year: number | null = null) => ({
  kind: 'report',
  month: month === null ? null : { month, year },
});
const out = (who = 'test customer') => ({ kind: 'leave-out', who });
const mail = { kind: 'mail', again: false };

test.each([
  ["Report on February's invoices", [report(2)]],
  ['Report on February’s invoices.', [report(2)]],
  ['Please make me a report of the invoices for feb. 2026', [report(2, 2026)]],
  ['Could you summarise the invoices of September, 2025?', [report(9, 2025)]],
  ['report 2026-03', [report(3, 2026)]],
  ['How many invoices were there in May?', [report(5)]],
  ['Now do the same for March', [report(3)]],
  ['Same for April, please', [report(4)]],
  ['And March?', [report(3)]],
  ['No, March', [report(3)]],
  ['do the report again', [report(null)]],
  ['leave out the test customer', [out()]],
  ['Please leave the test customer out of it.', [out()]],
  ['Exclude all invoices of the test customer', [out()]],
  ["Actually, don't count test customers", [out()]],
  ['Wait, without Bluebird Bakery please', [out('bluebird bakery')]],
  ['leave out "Alder, Finch and Sons"', [out('alder, finch and sons')]],
  ['remove the test customer from the report', [out()]],
  ['include the test customer again', [{ kind: 'include', who: 'test customer' }]],
  ['Put the test customer back in', [{ kind: 'include', who: 'test customer' }]],
  ['Mail the report to the owner', [mail]],
  ['email it to the account owner', [mail]],
  ['send the owner the report by e-mail', [mail]],
  ["Mail March's report to the owner", [report(3), mail]],
  ['mail it to the owner again', [{ kind: 'mail', again: true }]],
  ["Don't mail it", [{ kind: 'no-mail' }]],
  ['No wait, stop', [{ kind: 'stop' }]],
  ['Wait!', [{ kind: 'stop' }]],
  ['try again', [{ kind: 'again' }]],
  [
    "Report on February's invoices without the test customer and mail it to the owner",
    [report(2), out(), mail],
  ],
  [
    'Report on June for the account "Smith and Sons"',
    [report(6), { kind: 'account', name: 'Smith and Sons' }],
  ],
  ['The account is Northwind Trading.', [{ kind: 'account', name: 'Northwind Trading' }]],
  ['Hello, what can you do?', []],
])('%s', (text, orders) => {
  expect(hear(text)).toEqual({ orders, strange: null });
});

test.each([
  'What is the weather?',
  'Write a poem about March',
  "Delete February's invoices",
  'Create an invoice for March',
  "Report on February's and March's invoices in one table",
  "Report on February's unpaid invoices",
  'Mail the report to bob@example.com',
  'Mail the report',
  'Mail the invoices to the owner',
  'Mail the report to the owner tomorrow',
  "Report on February's invoices and pay them",
  'You may go',
])('%s: nothing of it is done', (text) => {
  const { orders, strange } = hear(text);
  expect(orders).toEqual([]);
  expect(strange).not.toBeNull();
});

test('an answer to the question for the account is a name', () => {
  expect(hear('Northwind Trading').strange).not.toBeNull();
  expect(hear('It is “Northwind Trading”.', true).orders).toEqual([
    { kind: 'account', name: 'Northwind Trading' },
  ]);
  expect(hear('Northwind Trading', true).orders).toEqual([{ kind: 'account', name: 'Northwind Trading' }]);
});

describe('which year is meant', () => {
  const range = { first: '2025-12', last: '2026-07' };
  test.each([
    [{ month: 2, year: 2024 }, range, '2026-05-20', '2024-02'],
    [{ month: 2, year: null }, range, '2029-05-20', '2026-02'],
    [{ month: 12, year: null }, range, '2026-05-20', '2025-12'],
    [{ month: 7, year: null }, range, '2026-05-20', '2026-07'],
    [{ month: 2, year: null }, { first: '2024-01', last: '2026-07' }, '2026-01-20', '2025-02'],
    [{ month: 9, year: null }, range, '2026-05-20', '2025-09'],
    [{ month: 5, year: null }, null, '2026-05-20', '2026-05'],
    [{ month: 6, year: null }, null, '2026-05-20', '2025-06'],
    [{ month: 6, year: null }, null, null, null],
  ])('%j in %j at %s', (said, held, now, month) => {
    expect(resolveMonth(said, held, now)).toBe(month);
  });
});
