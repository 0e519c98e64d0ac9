/**
 * From what is there to what is needed: description → account → client → rows → report, one cell at a time. Pure.
 *
 * D1  A step is chosen from the facts alone: whatever is missing is made next, and what is there is not made again. So it
 *     makes no difference whether the objects it stands on are a minute or three kills old.
 * D2  A report is summed up after the last message was read; a correction in the middle needs no path of its own.
 */

import { describeCell, findCell, listCell, loadCell, openCell, reportCell } from './cells.ts';
import type { Account, Facts, Manual, Report } from './facts.ts';
import { ACCOUNT_QUESTION, type Goal } from './goal.ts';
import { isWithin, monthName, resolveMonth } from './months.ts';
import type { Note, Observations } from './observations.ts';
import type { BillingApi } from './services.ts';
import { quoted } from './wording.ts';

/** Everything that a step is decided from. */
export interface Work {
  readonly seen: Observations;
  readonly goal: Goal;
  readonly facts: Facts;
  /** The first turn that counts as now. */
  readonly since: number;
  readonly accountName: string | null;
}

export interface Run {
  readonly kind: 'run';
  readonly say: string;
  readonly source: string;
  readonly note: Note;
}

export interface Answer {
  readonly kind: 'answer';
  readonly text: string;
}

/** What is needed, or what has to come before it. */
export type Step<T> = { readonly kind: 'ready'; readonly value: T } | Run | Answer;

export const ready = <T>(value: T): Step<T> => ({ kind: 'ready', value });

export const answer = (text: string): Answer => ({ kind: 'answer', text });

interface Billing {
  readonly origin: string;
  readonly api: BillingApi;
}

export function towardsBilling({ seen, facts, since }: Work): Step<Billing> {
  const origin = seen.services.get('billing');
  if (origin === undefined)
    return answer('No billing service is granted to me, so there is nothing I could report on.');
  const api = readable('billing', facts.billing, since);
  if (api.kind === 'answer') return api;
  if (api.kind === 'ready') return ready({ origin, api: api.value });
  return run(
    { cell: 'describe', service: 'billing', lost: false },
    'I read how the billing service wants to be used.',
    describeCell('billing', origin),
  );
}

/** A description that could not be followed is read anew in a later turn: the service may have changed. */
export function readable<Api>(
  service: string,
  manual: Manual<Api> | null,
  since: number,
): { readonly kind: 'ready'; readonly value: Api } | Answer | { readonly kind: 'unread' } {
  if (manual === null) return { kind: 'unread' };
  const { reading, turn } = manual;
  if (reading.ok) return { kind: 'ready', value: reading.api };
  if (turn < since) return { kind: 'unread' };
  const missing = reading.missing.join('; ');
  return answer(
    `The ${service} service describes itself in a way that I, a scripted planner, cannot follow. Its description does not tell me: ${missing}. I did not guess, and did nothing further.`,
  );
}

export function towardsMonth(work: Work): Step<string> {
  const { goal, seen } = work;
  if (goal.month === null) return answer("Which month? Say, for example: Report on February's invoices.");
  const billing = towardsBilling(work);
  if (billing.kind !== 'ready') return billing;
  const { range } = billing.value.api;
  const month = resolveMonth(goal.month, range, seen.present.time);
  if (month === null) return answer('Which year? Nothing that I can see tells me.');
  if (range === null || isWithin(month, range)) return ready(month);
  return answer(
    `The billing service says that it has invoices from ${monthName(range.first)} to ${monthName(range.last)}. ${monthName(month)} is not among them, so there is no report.`,
  );
}

export function towardsAccount(work: Work): Step<Account> {
  const { facts, since, accountName } = work;
  const billing = towardsBilling(work);
  if (billing.kind !== 'ready') return billing;
  const { lookup } = facts;
  if (facts.hasAccount && lookup?.account) return ready(lookup.account);
  if (lookup !== null && lookup.account === null && lookup.turn >= since) return answer(notFound(work));
  const { origin, api } = billing.value;
  if (accountName === null) {
    return run(
      { cell: 'find', name: null, lost: false },
      'No account was named, so I look whether there is only one.',
      listCell(origin, api),
    );
  }
  const lost = facts.isAccountLost;
  const say = lost
    ? `The account record is not in the sandbox any more, so I look “${accountName}” up again.`
    : `I look the account “${accountName}” up by its name.`;
  return run({ cell: 'find', name: accountName, lost }, say, findCell(origin, api, accountName));
}

function notFound({ facts, accountName }: Work): string {
  const names = facts.lookup?.names ?? [];
  if (facts.lookup?.isOdd)
    return 'The billing service answered with an account record that is not as it describes it. I did not go on.';
  const seen = names.length === 0 ? '' : ` What I saw: ${quoted(names)}.`;
  return accountName === null
    ? `${ACCOUNT_QUESTION} is meant? Nothing that I can see names it, and the service does not show just one.${seen} Answer with its name.`
    : `${ACCOUNT_QUESTION} is meant? No single account is called exactly “${accountName}”, and a similar name is not good enough.${seen} Answer with its name.`;
}

function towardsClient(work: Work): Step<Account> {
  const account = towardsAccount(work);
  if (account.kind !== 'ready' || work.facts.hasClient) return account;
  const billing = towardsBilling(work);
  if (billing.kind !== 'ready') return billing;
  const { origin, api } = billing.value;
  const lost = work.facts.isClientLost;
  const { name, id } = account.value;
  const say = work.facts.hasMoved
    ? `The billing service is at ${origin} now, so I build a new client and authenticate there.`
    : lost
      ? 'The client is not in the sandbox any more, so I build a new one and authenticate again.'
      : `${name} is ${id}${among(work)}. I build a client that authenticates in three calls.`;
  return run({ cell: 'open', origin, lost }, say, openCell(origin, api));
}

function among({ facts }: Work): string {
  const others = (facts.lookup?.names.length ?? 1) - 1;
  if (others < 1) return '';
  return others === 1 ? ', beside a similar name' : `, beside ${others} similar names`;
}

function towardsRows(work: Work, month: string): Step<null> {
  const { facts, since } = work;
  if (facts.hasRows(month)) return ready(null);
  const account = towardsClient(work);
  if (account.kind !== 'ready') return account;
  const billing = towardsBilling(work);
  if (billing.kind !== 'ready') return billing;
  const note = { cell: 'load', month, defines: !facts.canLoad, lost: false } as const;
  if (!facts.canLoad) {
    const say = `${monthName(month)} is meant in UTC, but the service's dates are local (UTC${account.value.utcOffset}): I move the edges of the month and load it page by page.`;
    return run(note, say, loadCell(billing.value.api, month));
  }
  const isKept = !facts.calls.some(
    ({ askedIn, note }) => askedIn >= since && (note?.cell === 'open' || note?.cell === 'renew'),
  );
  const kept = isKept ? 'The client is still there, so nothing is looked up or authenticated again. ' : '';
  return run(note, `${kept}I load ${monthName(month)} page by page.`, loadCell(null, month));
}

/** A report counts when it was made in turn `since` or later, with the same customers left out (D2). */
export function towardsReport(work: Work, month: string, since: number): Step<Report> {
  const { facts, goal } = work;
  const made = facts.report(month, goal.leaveOut, since);
  if (made !== null) return ready(made);
  const rows = towardsRows(work, month);
  if (rows.kind !== 'ready') return rows;
  const { leaveOut } = goal;
  const without = leaveOut.length === 0 ? '' : `, leaving out ${quoted(leaveOut)}`;
  const isAgain = facts.reportedIn(month) >= since;
  const defines = !facts.canSum;
  return run(
    { cell: 'report', month, leaveOut, defines, lost: false },
    `The rows are in memory. I sum ${monthName(month)} up${isAgain ? ' again' : ''}${without}.`,
    reportCell(month, leaveOut, defines),
  );
}

/** A cell, and the line that tells people about it. */
export const run = (note: Note, say: string, source: string): Run => ({ kind: 'run', say, source, note });
