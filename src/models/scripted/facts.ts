/**
 * What the planner may rely on: descriptions that were read, objects that still live in the sandbox, rows that are
 * loaded, reports that were made. Drawn from observations only.
 *
 * A1  An object is there when a cell of ours made it, the present lists it, and no later cell missed it. A variable that
 *     another model made under the same name is not ours.
 * A2  Rows count from the cell that made the Map they lie in; they are gone with it.
 * A3  A reading that is not of the expected shape is no fact.
 */

import { isRecord } from '../../lib/json.ts';
import { MAKES } from './cells.ts';
import type { Called, Data, Note, Observations } from './observations.ts';
import { type BillingApi, type MailingApi, type Reading, readBilling, readMailing } from './services.ts';
import { isRowsGone, isUnbuilt } from './trouble.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly utcOffset: string;
  readonly currency: string;
  readonly owner: { readonly name: string; readonly email: string };
}

export interface CustomerTotal {
  readonly customer: string;
  readonly count: number;
  readonly totalCents: number;
}

export interface Report {
  readonly month: string;
  readonly currency: string;
  readonly count: number;
  readonly totalCents: number;
  readonly byCustomer: readonly CustomerTotal[];
  readonly leftOut: readonly CustomerTotal[];
  readonly localDateElsewhere: number;
}

/** What a service said about itself, and the turn in which it was read. */
export interface Manual<Api> {
  readonly turn: number;
  readonly reading: Reading<Api>;
}

/** A lookup that came to its end: the account, or the names that were there instead. */
export interface Lookup {
  readonly turn: number;
  readonly account: Account | null;
  readonly names: readonly string[];
  /** An account came, and its record was not as described. */
  readonly isOdd: boolean;
}

export interface Facts {
  readonly calls: readonly Called[];
  readonly billing: Manual<BillingApi> | null;
  readonly mailing: Manual<MailingApi> | null;
  readonly lookup: Lookup | null;
  readonly hasAccount: boolean;
  readonly hasClient: boolean;
  /** Found or opened before, and not there any more. */
  readonly isAccountLost: boolean;
  readonly isClientLost: boolean;
  /** The service has another address than the client was built for. */
  readonly hasMoved: boolean;
  readonly canLoad: boolean;
  readonly canSum: boolean;
  hasRows(month: string): boolean;
  /** The last report of this month with these customers left out, made in turn `since` or later. */
  report(
    month: string,
    leaveOut: readonly string[],
    since: number,
  ): (Report & { readonly call: Called }) | null;
  /** The last turn in which this month was summed up, whoever was left out; 0 when none was. */
  reportedIn(month: string): number;
  range(month: string): { readonly from: string; readonly to: string } | null;
}

export function factsOf({ entries, present, services }: Observations, accountName: string | null): Facts {
  const calls = entries.filter((entry): entry is Called => entry.kind === 'called');
  const lives = liveNames(calls, present.live);
  const last = (test: (call: Called, note: Note) => unknown): number =>
    calls.findLastIndex((call) => call.note !== null && test(call, call.note));

  const find = last(
    ({ data }, note) => note.cell === 'find' && data !== null && isSameName(note.name, accountName),
  );
  const open = last(({ data }, note) => note.cell === 'open' && data !== null);
  const define = last((_, note) => note.cell === 'load' && note.defines);
  const missed = last(
    ({ status, text }, note) => note.cell === 'report' && status === 'failed' && isRowsGone(text),
  );
  const billing = manual(calls, 'billing', readBilling);
  const lookup = lookupOf(calls[find], billing?.reading.ok ? billing.reading.api.offset : '');

  const hasAccount = lookup?.account != null && lives('account');
  const opened = calls[open]?.note;
  const hasMoved = opened?.cell === 'open' && opened.origin !== services.get('billing');
  const hasClient = hasAccount && !hasMoved && open > find && lives('client') && lives('identity');
  const canLoad = hasClient && define > open && lives('months') && lives('loadMonth');
  const loadOf = (month: string): number =>
    last(({ data }, note) => note.cell === 'load' && note.month === month && data !== null);
  return {
    calls,
    billing,
    mailing: manual(calls, 'mailing', readMailing),
    lookup,
    hasAccount,
    hasClient,
    isAccountLost: lookup?.account != null && !hasAccount,
    hasMoved,
    isClientLost: !hasClient && !hasMoved && open >= 0 && (open > find || calls[find]?.note?.lost === true),
    canLoad,
    canSum: lives('summarise'),
    hasRows: (month) => canLoad && loadOf(month) >= define && loadOf(month) > missed,
    report: (month, leaveOut, since) => {
      const made = calls[last((call, note) => isReportOf(call, note, month, leaveOut, since))];
      const report = reportOf(made?.data ?? null);
      return made && report ? { ...report, call: made } : null;
    },
    reportedIn: (month) =>
      calls[last(({ data }, note) => note.cell === 'report' && note.month === month && data !== null)]
        ?.turn ?? 0,
    range: (month) => {
      const { from, to } = calls[loadOf(month)]?.data ?? {};
      return typeof from === 'string' && typeof to === 'string' ? { from, to } : null;
    },
  };
}

/** A1. What the present lists and a cell missed all the same stands for all of it: it is another heap than ours. */
function liveNames(calls: readonly Called[], live: ReadonlyMap<string, string>): (name: string) => boolean {
  const ours = new Set<string>();
  for (const { note, status, text } of calls) {
    if (status === 'failed' && isUnbuilt(text)) ours.clear();
    else if (note !== null && (status === 'done' || status === 'failed'))
      for (const name of makes(note)) ours.add(name);
  }
  return (name) => ours.has(name) && !/^(?:undefined|null)\b/.test(live.get(name) ?? 'undefined');
}

function makes(note: Note): readonly string[] {
  switch (note.cell) {
    case 'find':
    case 'open':
      return MAKES[note.cell];
    case 'load':
    case 'report':
      return note.defines ? MAKES[note.cell] : [];
    default:
      return [];
  }
}

function isSameName(asked: string | null, wanted: string | null): boolean {
  return wanted === null || asked?.toLowerCase() === wanted.toLowerCase();
}

function isReportOf(
  { turn, data }: Called,
  note: Note,
  month: string,
  leaveOut: readonly string[],
  since: number,
): boolean {
  return (
    note.cell === 'report' &&
    note.month === month &&
    isSameCustomers(note.leaveOut, leaveOut) &&
    turn >= since &&
    reportOf(data) !== null
  );
}

export const isSameCustomers = (some: readonly string[], others: readonly string[]): boolean =>
  [...some].sort().join('\n') === [...others].sort().join('\n');

// ── readings (A3) ──────────────────────────────────────────────────────────────────────────────────────────

function manual<Api>(
  calls: readonly Called[],
  service: string,
  read: (text: string) => Reading<Api>,
): Manual<Api> | null {
  const made = calls.findLast(
    ({ note, data }) => note?.cell === 'describe' && note.service === service && data !== null,
  );
  const text = made?.data?.text;
  return made && typeof text === 'string' ? { turn: made.turn, reading: read(text) } : null;
}

function lookupOf(call: Called | undefined, offset: string): Lookup | null {
  if (!call?.data) return null;
  const { names, account: record } = call.data;
  const account = accountOf(record, offset);
  return {
    turn: call.turn,
    account,
    names: Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [],
    isOdd: account === null && record !== null,
  };
}

function accountOf(value: unknown, offset: string): Account | null {
  if (!isRecord(value) || !isRecord(value.owner)) return null;
  const { id, name, utcOffset, currency, owner } = value;
  const texts = [id, name, utcOffset, currency, owner.name, owner.email];
  const isAccount = texts.every((text) => typeof text === 'string') && Number.isSafeInteger(value[offset]);
  return isAccount ? (value as unknown as Account) : null;
}

function reportOf(data: Data | null): Report | null {
  if (data === null) return null;
  const { currency, count, totalCents, byCustomer, leftOut, localDateElsewhere } = data;
  const isReport =
    typeof currency === 'string' &&
    [count, totalCents, localDateElsewhere].every(Number.isSafeInteger) &&
    [byCustomer, leftOut].every((list) => Array.isArray(list) && list.every(isCustomerTotal));
  return isReport ? (data as unknown as Report) : null;
}

function isCustomerTotal(value: unknown): value is CustomerTotal {
  return (
    isRecord(value) &&
    typeof value.customer === 'string' &&
    Number.isSafeInteger(value.count) &&
    Number.isSafeInteger(value.totalCents)
  );
}
