/** What the demo claims, judged by the services' own books and by values that cells printed. */

import type { Event, ForeignEvent } from '../core/event.ts';
import { truth } from '../services/billing/world.ts';
import { distinct, readBooks } from '../services/books.ts';

export interface Books {
  readonly authCalls: number;
  readonly accountLookups: number;
  readonly mailsSent: number;
}

/** Counts so far; repeats under the same key are not counted twice, since nothing was done twice. */
export function look(dataDir: string): Books {
  const billing = readBooks(dataDir, 'billing').rows;
  const mailing = readBooks(dataDir, 'mailing').rows;
  return {
    authCalls: distinct(billing, 'auth.').length,
    accountLookups: distinct(billing, 'account.lookup').length,
    mailsSent: mailing.filter((row) => row.kind === 'mail.accepted').length,
  };
}

/** Whether a report names the number of invoices and the total that the books have for the month, in UTC. */
export function isRight(report: string, month: string, excludeTest: boolean): boolean {
  const { count, totalCents, currency } = truth({ accountId: DEMO_ACCOUNT, month, excludeTest });
  const digits = String(totalCents).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return report.includes(`${count} invoices`) && report.includes(`${whole}.${digits.slice(-2)} ${currency}`);
}

const DEMO_ACCOUNT = 'acct_2040';

/** The last word of the cells of a turn about whether the client is the object that the first turn made. */
export function sameClient(events: readonly (Event | ForeignEvent)[]): boolean {
  const said = events.flatMap((event) =>
    event.kind === 'cell.committed'
      ? event.ended.flatMap(({ end }) => (end.status === 'done' ? [end.value] : [event.output]))
      : [],
  );
  const verdicts = said.join('\n').matchAll(/"?sameClient"?:\s*(true|false)/g);
  const all = [...verdicts].map(([, verdict]) => verdict);
  return all.length > 0 && all.every((verdict) => verdict === 'true');
}
