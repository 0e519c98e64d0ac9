/**
 * What the planner says: reports, the fate of a mail, refusals. Pure, from facts that were observed.
 *
 * W1  Every number in here was printed by a cell. Nothing is computed but the way it is written.
 * W2  A mail is called sent only when the service answered with its id; everything else is called what it is.
 */

import type { Account, CustomerTotal, Report } from './facts.ts';
import type { Goal } from './goal.ts';
import { monthName, saidMonth } from './months.ts';

/** `money(1234567, 'USD')` is `12,345.67 USD`. */
export function money(cents: number, currency: string): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}${whole}.${digits.slice(-2)} ${currency}`;
}

const invoices = (count: number): string => (count === 1 ? '1 invoice' : `${count} invoices`);

/** `February 2026: 31 invoices, 74,512.33 USD in total.` */
export function totalLine({ month, count, totalCents, currency }: Report): string {
  return `${monthName(month)}: ${invoices(count)}, ${money(totalCents, currency)} in total.`;
}

export interface ReportSource {
  readonly account: Account | null;
  readonly leaveOut: readonly string[];
  /** What was asked for, in the service's local time. */
  readonly range: { readonly from: string; readonly to: string } | null;
}

export function reportLines(report: Report, source: ReportSource): readonly string[] {
  const { account } = source;
  const title = account === null ? 'Report' : `Report for ${account.name}`;
  return [
    `${title}, ${totalLine(report)}`,
    '',
    ...customerLines(report),
    leftOutLine(report, source.leaveOut),
    dateLine(report, source),
  ];
}

const SHOWN = 12;

function customerLines({ byCustomer, currency }: Report): readonly string[] {
  if (byCustomer.length === 0) return [];
  const shown = byCustomer.slice(0, SHOWN).map((one) => `- ${customerText(one, currency)}`);
  const more = byCustomer.length - shown.length;
  return [...shown, ...(more > 0 ? [`- and ${more} more customers`] : []), ''];
}

const customerText = ({ customer, count, totalCents }: CustomerTotal, currency: string): string =>
  `${customer}: ${invoices(count)}, ${money(totalCents, currency)}`;

function leftOutLine({ leftOut, byCustomer, currency }: Report, leaveOut: readonly string[]): string {
  const names = leftOut.map(({ customer }) => customer.toLowerCase());
  const unmatched = leaveOut.filter((who) => !names.some((name) => name.includes(who)));
  const nobody = unmatched.map((who) => `No invoice of this month is from a customer called “${who}”.`);
  if (leftOut.length > 0) {
    return [`Left out: ${leftOut.map((one) => customerText(one, currency)).join('; ')}.`, ...nobody].join(
      ' ',
    );
  }
  const tests = byCustomer.filter(({ customer }) => /^test customer\b/i.test(customer));
  const counted =
    tests.length === 0 ? 'All customers are counted.' : 'All customers are counted, the test customer too.';
  return [counted, ...nobody].join(' ');
}

function dateLine({ localDateElsewhere, month }: Report, { account, range }: ReportSource): string {
  const asked = range === null ? '' : `, so I asked for ${range.from} to ${range.to}`;
  const where = account === null ? 'local time' : `local time (UTC${account.utcOffset})`;
  const moved =
    localDateElsewhere === 0
      ? ''
      : ` ${localDateElsewhere} of the invoices counted carry a local date outside ${monthName(month)}.`;
  return `Dates: the month is the one in UTC; the service writes ${where}${asked}, and each row was checked.${moved}`;
}

// ── the fate of a mail ─────────────────────────────────────────────────────────────────────────────────────

export type MailFate =
  | { readonly kind: 'sent'; readonly to: string; readonly id: string }
  | { readonly kind: 'not-sent'; readonly why: string }
  | { readonly kind: 'unclear'; readonly why: string }
  | { readonly kind: 'waits'; readonly why: string };

/** W2. */
export function mailLine(fate: MailFate, what: string): string {
  switch (fate.kind) {
    case 'sent':
      return `${what} was mailed to the owner, ${fate.to} (id ${fate.id}).`;
    case 'not-sent':
      return `${what} was not mailed: ${fate.why}`;
    case 'unclear':
      return `Whether ${lowerFirst(what)} was mailed is not known: ${fate.why} I do not call it sent, and I do not send it again by myself.`;
    case 'waits':
      return `Whether ${lowerFirst(what)} was mailed is not known yet: ${fate.why}`;
  }
}

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

// ── what it does not do ────────────────────────────────────────────────────────────────────────────────────

const ABILITIES = `What I can do here, in about these words:
- Report on February's invoices (one month at a time)
- Now do the same for March
- Leave out the test customer / Include the test customer again
- Mail the report to the owner
- Try again / Stop

For anything else this needs a model: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or \
OUTLAST_BASE_URL with OUTLAST_MODEL for a server of your own that speaks OpenAI's protocol, and start Outlast again.`;

export function refusal(strange: readonly string[]): string {
  const what =
    strange.length === 0
      ? 'I am a scripted planner, no model: I follow a few instructions and know nothing else.'
      : `I am a scripted planner, no model, and I do not understand ${quoted(strange)}. I did nothing about it.`;
  return `${what}\n\n${ABILITIES}`;
}

/** What has to be added to an answer about orders that did not all stand. */
export function asides({ strange, superseded }: Pick<Goal, 'strange' | 'superseded'>): readonly string[] {
  const before = [...new Set(superseded.map(saidMonth))];
  return [
    ...(before.length === 0
      ? []
      : [
          `${before.join(' and ')} had been asked for before that; the last instruction counts. Ask again if you want both.`,
        ]),
    ...(strange.length === 0
      ? []
      : [
          `As a scripted planner, no model, I do not understand ${quoted(strange)}, and did nothing about it.`,
        ]),
  ];
}

export const quoted = (texts: readonly string[]): string => texts.map((text) => `“${text}”`).join(' and ');
