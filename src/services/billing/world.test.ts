import { expect, test } from 'vitest';
import { instantOf, localTime, offsetText } from './local-time.ts';
import { accounts, invoicesOf, TEST_CUSTOMER, truth } from './world.ts';

const months = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06'];
const everyMonth = accounts.flatMap((account) => months.map((month) => ({ account, month })));

function naive(accountId: string, month: string, utcOffsetMinutes: number, excludeTest: boolean) {
  const taken = invoicesOf(accountId)
    .filter(({ issuedAtMs }) => localTime(issuedAtMs, utcOffsetMinutes).startsWith(month))
    .filter(({ customer }) => !excludeTest || customer !== TEST_CUSTOMER);
  return { count: taken.length, totalCents: taken.reduce((sum, one) => sum + one.amountCents, 0) };
}

test('W1: the data are what they were', () => {
  const northwind = months.map((month) => truth({ accountId: 'acct_2040', month }));
  const lines = northwind.map(({ count, totalCents, currency }) => `${count} ${totalCents} ${currency}`);
  expect(lines).toMatchInlineSnapshot(`
    [
      "31 7143333 USD",
      "29 6156281 USD",
      "27 6748987 USD",
      "28 6848023 USD",
      "29 7745166 USD",
      "29 7424364 USD",
    ]
  `);
  expect(
    northwind[1]?.byCustomer.map(({ customer, count }) => `${count} ${customer}`),
  ).toMatchInlineSnapshot(`
    [
      "5 Alder & Finch",
      "7 Bluebird Bakery",
      "3 Cedar Logistics",
      "2 Dunmore Books",
      "3 Eastgate Dental",
      "2 Fjord Outdoor",
      "2 Granite Studio",
      "3 Harbour Foods",
      "2 Test Customer (do not bill)",
    ]
  `);
});

test.each(everyMonth)(
  'W2: $month of $account.name counts in UTC, with the test customer and without',
  ({ account, month }) => {
    const all = truth({ accountId: account.id, month });
    const billed = truth({ accountId: account.id, month, excludeTest: true });
    expect(all.count).toBeGreaterThanOrEqual(24);
    expect(all.count).toBeLessThanOrEqual(35);
    expect(all.currency).toBe(account.currency);
    expect(all.byCustomer.reduce((sum, one) => sum + one.totalCents, 0)).toBe(all.totalCents);
    const test = all.byCustomer.find(({ customer }) => customer === TEST_CUSTOMER);
    expect(test?.count).toBeGreaterThanOrEqual(2);
    expect(billed.count).toBe(all.count - (test?.count ?? 0));
    expect(billed.totalCents).toBe(all.totalCents - (test?.totalCents ?? 0));
  },
);

test.each(everyMonth)(
  'W3: local dates, or the offset the wrong way round, get $month of $account.name wrong',
  ({ account, month }) => {
    for (const excludeTest of [false, true]) {
      const right = truth({ accountId: account.id, month, excludeTest });
      for (const offset of [account.utcOffsetMinutes, -account.utcOffsetMinutes]) {
        const wrong = naive(account.id, month, offset, excludeTest);
        expect(wrong.count).not.toBe(right.count);
        expect(wrong.totalCents).not.toBe(right.totalCents);
      }
    }
  },
);

test('a month is written like 2026-02, an account must exist', () => {
  expect(() => truth({ accountId: 'acct_2040', month: 'February' })).toThrow('like 2026-02');
  expect(() => truth({ accountId: 'acct_1', month: '2026-02' })).toThrow('No account');
});

test('local time has two directions and no mercy', () => {
  expect(localTime(Date.UTC(2026, 1, 1), -300)).toBe('2026-01-31T19:00');
  expect(instantOf('2026-01-31T19:00', -300)).toBe(Date.UTC(2026, 1, 1));
  expect(instantOf('2026-02-01T05:30', 330)).toBe(Date.UTC(2026, 1, 1));
  for (const bad of ['2026-02-30T00:00', '2026-02-01', '2026-02-01T00:00Z', '2026-02-01T24:00', '']) {
    expect(instantOf(bad, 0)).toBeUndefined();
  }
  expect([-300, 330, 0].map(offsetText)).toEqual(['-05:00', '+05:30', '+00:00']);
});
