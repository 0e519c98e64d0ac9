/**
 * The world of the sample billing service: its accounts, their invoices, and the truth about a month.
 *
 * Owns the data, made by code from a seed; the server shows it in its own way, and judges ask `truth` beside it.
 *
 * W1. The same data on each machine and at each start: no clock, no chance, no local time zone.
 * W2. A month is the month in UTC.
 * W3. In each month, around both edges, invoices stand whose local date lies in the other month, in different
 *     numbers at each edge: whoever takes months by local date gets a wrong count and a wrong sum, in all of them.
 */
import { seededEntropy } from '../../lib/entropy.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Local time minus UTC, the same all year. */
  readonly utcOffsetMinutes: number;
  readonly currency: string;
  readonly owner: { readonly name: string; readonly email: string };
}

export interface Invoice {
  readonly id: string;
  readonly customer: string;
  readonly customerId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly issuedAtMs: number;
  readonly status: 'paid' | 'open' | 'overdue';
}

export interface Totals {
  readonly count: number;
  readonly totalCents: number;
}

/** `byCustomer` is sorted by customer name. */
export interface Truth extends Totals {
  readonly currency: string;
  readonly byCustomer: readonly (Totals & { readonly customer: string; readonly customerId: string })[];
}

export const FIRST_MONTH = '2025-12';
export const LAST_MONTH = '2026-07';
export const TEST_CUSTOMER = 'Test Customer (do not bill)';

export const accounts: readonly Account[] = [
  account(
    1873,
    'Northwind Trading Canada',
    -480,
    'CAD',
    'Elliot Marchand',
    'elliot@northwind-canada.example',
  ),
  account(1911, 'Northwind Traders', 60, 'EUR', 'Sofie Brandt', 'sofie@northwind-traders.example'),
  account(2040, 'Northwind Trading', -300, 'USD', 'Mira Castellanos', 'mira@northwind-trading.example'),
  account(2077, 'Northwest Trading', -420, 'USD', 'Dale Whitaker', 'dale@northwest-trading.example'),
  account(2215, 'Southwind Trading', 330, 'INR', 'Anjali Rao', 'anjali@southwind.example'),
  account(2302, 'Harbour Trading', 600, 'AUD', 'Noah Kelly', 'noah@harbour-trading.example'),
];

const customers = [
  'Alder & Finch',
  'Bluebird Bakery',
  'Cedar Logistics',
  'Dunmore Books',
  'Eastgate Dental',
  'Fjord Outdoor',
  'Granite Studio',
  'Harbour Foods',
];

/**
 * What a right report on a month says.
 * `truth({ accountId: 'acct_2040', month: '2026-02' }).count`
 */
export function truth(asked: { accountId: string; month: string; excludeTest?: boolean }): Truth {
  const owner = accounts.find(({ id }) => id === asked.accountId);
  if (owner === undefined) throw new Error(`No account ${asked.accountId}`);
  const [from, to] = [monthStart(asked.month), monthStart(asked.month, 1)];
  const invoices = invoicesOf(owner.id).filter(
    (one) =>
      one.issuedAtMs >= from && one.issuedAtMs < to && !(asked.excludeTest && one.customer === TEST_CUSTOMER),
  );
  const byCustomer = [...new Set(invoices.map(({ customer }) => customer))].sort().map((customer) => {
    const theirs = invoices.filter((one) => one.customer === customer);
    return { customer, customerId: customerId(customer), ...totals(theirs) };
  });
  return { ...totals(invoices), currency: owner.currency, byCustomer };
}

/** All invoices of an account, in the order of issue. */
export function invoicesOf(accountId: string): readonly Invoice[] {
  return invoicesByAccount.get(accountId) ?? [];
}

function totals(invoices: readonly Invoice[]): Totals {
  return { count: invoices.length, totalCents: invoices.reduce((sum, one) => sum + one.amountCents, 0) };
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

const invoicesByAccount = new Map(accounts.map((one) => [one.id, makeInvoices(one)]));

function makeInvoices(owner: Account): readonly Invoice[] {
  const random = seededEntropy(Number(owner.id.replace('acct_', '')));
  const between = (low: number, high: number) => low + Math.floor(random.next() * (high - low + 1));
  const drafts: Omit<Invoice, 'id'>[] = [];
  for (let month = 0; monthStart(FIRST_MONTH, month) <= monthStart(LAST_MONTH); month += 1) {
    const start = monthStart(FIRST_MONTH, month);
    const minutes = (monthStart(FIRST_MONTH, month + 1) - start) / MINUTE_MS;
    const edge = Math.abs(owner.utcOffsetMinutes);
    const early = 3 + (month % 2) * 2; // neighbours differ, so that no month is right by luck (W3)
    const late = 4 - (month % 2) * 2;
    const issue = (customer: string, minute: number) =>
      drafts.push({
        customer,
        customerId: customerId(customer),
        amountCents: between(1_500, 480_000),
        currency: owner.currency,
        issuedAtMs: start + minute * MINUTE_MS,
        status: (['paid', 'paid', 'open', 'overdue'] as const)[between(0, 3)] ?? 'paid',
      });
    const anyone = () => customers[between(0, customers.length - 1)] ?? TEST_CUSTOMER;
    const anytime = () => between(DAY_MINUTES, minutes - DAY_MINUTES);
    issue(anyone(), 0);
    issue(anyone(), minutes - 1);
    issue(TEST_CUSTOMER, between(1, edge - 1));
    for (let k = 2; k < early; k += 1) issue(anyone(), between(1, edge - 1));
    for (let k = 1; k < late; k += 1) issue(anyone(), minutes - between(1, edge));
    for (let k = between(1, 3); k > 0; k -= 1) issue(TEST_CUSTOMER, anytime());
    for (let k = between(16, 24); k > 0; k -= 1) issue(anyone(), anytime());
  }
  return drafts
    .sort((left, right) => left.issuedAtMs - right.issuedAtMs)
    .map((draft, index) => ({
      id: `${owner.id.replace('acct', 'inv')}_${String(index + 1).padStart(4, '0')}`,
      ...draft,
    }));
}

/** The first instant of a month in UTC, `later` months on: `monthStart('2026-02', 1)` is the end of February. */
function monthStart(month: string, later = 0): number {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined) throw new Error(`A month is written like 2026-02, not ${month}`);
  return Date.UTC(Number(year), Number(number) - 1 + later, 1);
}

function customerId(customer: string): string {
  return `cus_${String(customers.indexOf(customer) + 1).padStart(2, '0')}`; // the test customer is cus_00
}

function account(
  n: number,
  name: string,
  utcOffsetMinutes: number,
  currency: string,
  owner: string,
  email: string,
) {
  return { id: `acct_${n}`, name, utcOffsetMinutes, currency, owner: { name: owner, email } };
}
