/**
 * The way of a report into the owner's mail, and what is said about it. Pure.
 *
 * D3  A mail is posted at most once in a turn, and not while an earlier one with the same report may have arrived; then
 *     only the explicit "again" posts another. No key and no reference is made up here: those are the runtime's.
 */

import { describeCell, mailCell } from './cells.ts';
import { isSameCustomers } from './facts.ts';
import { monthName } from './months.ts';
import type { Called } from './observations.ts';
import { readable, ready, run, type Step, towardsAccount, towardsReport, type Work } from './steps.ts';
import { fateOf, isUnwritten } from './trouble.ts';
import { mailLine, quoted, reportLines } from './wording.ts';

/** Ready with what the answer says about the mail. */
export function towardsMail(work: Work, month: string): Step<string> {
  const { goal, facts, seen, since } = work;
  const name = `The report on ${monthName(month)}`;
  const made = lastMail(work, ({ askedIn }) => askedIn >= since);
  if (made !== null) return ready(fateLine(made, work, month));
  if (goal.heldBy !== null) {
    return ready(
      `${name} was not mailed: ${quoted([goal.heldBy])} came after that order, and I did not understand it. Say “Mail the report to the owner” if it is to go out.`,
    );
  }
  const before = goal.mail === 'again' ? null : lastMail(work, (call) => isSame(call, month, goal.leaveOut));
  if (before !== null && fateOf(before).kind !== 'not-sent') {
    return ready(
      `${fateLine(before, work, month)} Say “Mail the report to the owner again” if another one is to go out.`,
    );
  }
  const origin = seen.services.get('mailing');
  if (origin === undefined) return ready(`${name} was not mailed: no mailing service is granted to me.`);
  if (seen.present.unknown.some((line) => line.includes(origin))) {
    return ready(
      `${name} was not mailed: of an earlier message to the mailing service nobody knows yet whether it was taken, and I send none beside it.`,
    );
  }
  const api = readable('mailing', facts.mailing, since);
  if (api.kind === 'answer') return ready(`${name} was not mailed. ${api.text}`);
  if (api.kind === 'unread') {
    const note = { cell: 'describe', service: 'mailing', lost: false } as const;
    return run(note, 'I read how the mailing service takes a message.', describeCell('mailing', origin));
  }
  const account = towardsAccount(work);
  if (account.kind !== 'ready') return account;
  const report = towardsReport(work, month, goal.report ? since : 0);
  if (report.kind !== 'ready') return report;
  const { owner } = account.value;
  const { leaveOut } = goal;
  const source = { account: account.value, leaveOut, range: facts.range(month) };
  const letter = {
    subject: `Invoices of ${monthName(month)}, ${account.value.name}`,
    lines: reportLines(report.value, source),
  };
  return run(
    { cell: 'mail', month, leaveOut, lost: false },
    `I mail the report on ${monthName(month)} to the owner, ${owner.name} <${owner.email}>.`,
    mailCell(origin, api.value, letter),
  );
}

function lastMail({ facts }: Work, test: (call: Called) => boolean): Called | null {
  return (
    facts.calls.findLast((call) => call.note?.cell === 'mail' && !isUnwritten(call) && test(call)) ?? null
  );
}

function isSame({ note }: Called, month: string, leaveOut: readonly string[]): boolean {
  return note?.cell === 'mail' && note.month === month && isSameCustomers(note.leaveOut, leaveOut);
}

function fateLine(call: Called, { goal }: Work, month: string): string {
  const sent = call.note?.cell === 'mail' ? call.note.month : month;
  const corrected = isSame(call, month, goal.leaveOut) ? '' : ', as it stood before the correction,';
  return mailLine(fateOf(call), `The report on ${monthName(sent)}${sent === month ? corrected : ''}`);
}
