/**
 * The next step of the turn: one cell, or the answer. Pure; the only place that knows the whole order of things.
 *
 * D4  A turn takes at most `MOST_CALLS` calls; then the answer says where it stopped.
 * D5  An answer says what was done, what was not, and nothing else. Where something went wrong it says what, in the
 *     words of the result.
 */

import { renewCell } from './cells.ts';
import { factsOf, type Report } from './facts.ts';
import { goalOf, windowStart } from './goal.ts';
import { towardsMail } from './mailing.ts';
import { monthName } from './months.ts';
import type { Called, Note, Observations } from './observations.ts';
import {
  type Answer,
  answer,
  type Run,
  ready,
  run,
  type Step,
  towardsMonth,
  towardsReport,
  type Work,
} from './steps.ts';
import { fateOf, type Trouble, troubleOf } from './trouble.ts';
import { asides, mailLine, quoted, refusal, reportLines, totalLine } from './wording.ts';

export type Decision = Run | Answer;

export const MOST_CALLS = 12;

export function decide(seen: Observations): Decision {
  const work = workOf(seen);
  const { goal } = work;
  if (!goal.report && goal.mail === 'no') return answer(withoutWork(work));
  if (!seen.hasSandbox) return answer('The tool “code” is not there, and without it I can look nothing up.');
  const trouble = troubleOf(callsNow(work));
  if (trouble.kind === 'renew') {
    const say = 'The service refused the token (401), so the client authenticates again.';
    return run({ cell: 'renew', lost: false }, say, renewCell());
  }
  if (trouble.kind === 'end') return broken(work, trouble.why);
  const step = towardsAnswer(work);
  if (step.kind === 'ready') return answer(paragraphs([step.value, ...asides(goal)]));
  if (step.kind === 'answer') return answer(paragraphs([step.text, ...nothingMailed(work), ...asides(goal)]));
  const calls = work.facts.calls.filter(({ turn }) => turn === seen.turn);
  if (calls.length < MOST_CALLS) return trouble.kind === 'retry' ? retried(step, trouble) : step;
  return broken(work, `after ${calls.length} calls in this turn there was no end in sight`);
}

function workOf(seen: Observations): Work {
  const goal = goalOf(seen);
  const accountName = goal.account ?? seen.operatorsAccount;
  const since = windowStart(seen.entries, seen.turn);
  return { seen, goal, since, accountName, facts: factsOf(seen, accountName) };
}

/** Ready with what was asked for. */
function towardsAnswer(work: Work): Step<string> {
  const { goal, since } = work;
  if (goal.month === null && !goal.report) {
    return answer(
      "There is no report yet that could be mailed. Say, for example: Report on February's invoices.",
    );
  }
  const month = towardsMonth(work);
  if (month.kind !== 'ready') return month;
  if (!goal.report) return towardsMail(work, month.value);
  const report = towardsReport(work, month.value, since);
  if (report.kind !== 'ready') return report;
  const lines = [reportText(work, report.value), ...remarks(work, report.value)];
  if (goal.mail === 'no') return ready(paragraphs(lines));
  const mail = towardsMail(work, month.value);
  return mail.kind === 'ready' ? ready(paragraphs([...lines, mail.value])) : mail;
}

function reportText({ facts, goal }: Work, report: Report): string {
  const account = facts.lookup?.account ?? null;
  return reportLines(report, { account, leaveOut: goal.leaveOut, range: facts.range(report.month) }).join(
    '\n',
  );
}

/** Which objects this turn stood on, as far as its cells have seen it. */
function remarks(work: Work, { month }: Report): readonly string[] {
  const { facts, goal, since } = work;
  const calls = callsNow(work);
  const made = (cell: Note['cell']) => calls.some(({ note }) => note?.cell === cell);
  const identity = facts.report(month, goal.leaveOut, since)?.call.data?.sameClient;
  const lost = calls.filter(({ note }) => note?.lost);
  return [
    ...(lost.length === 0
      ? []
      : [
          'What had been built before was lost from the sandbox; I built it again, with a new lookup and authentication.',
        ]),
    ...(made('renew') ? ['The service had refused the token, so the client authenticated once more.'] : []),
    ...(made('open') || made('renew') || made('find')
      ? []
      : [
          identity === true
            ? 'The client from before was still there, the very same object: nothing was looked up or authenticated again.'
            : 'Nothing was looked up or authenticated again.',
        ]),
    ...(made('load') ? [] : ['The rows were still in memory; nothing was fetched again.']),
  ];
}

// ── answers without a result ───────────────────────────────────────────────────────────────────────────────

function withoutWork(work: Work): string {
  const { goal } = work;
  const mail = callsNow(work).findLast(({ note }) => note?.cell === 'mail');
  if (goal.stopped) {
    const said = mail ? mailLine(fateOf(mail), 'The report') : 'Nothing was mailed in this turn.';
    return paragraphs([`Stopped: I do nothing further. ${said}`, ...asides(goal)]);
  }
  if (goal.corrected) {
    const out =
      goal.leaveOut.length === 0 ? 'all customers are counted' : `${quoted(goal.leaveOut)} will be left out`;
    return paragraphs([
      `Noted: ${out}. There is no report yet to correct; say, for example: Report on February's invoices.`,
      ...asides(goal),
    ]);
  }
  if (goal.account !== null && goal.strange.length === 0 && work.seen.entries.at(-1)?.kind === 'said') {
    return `Noted: the account is called “${goal.account}”. Say, for example: Report on February's invoices.`;
  }
  return refusal(goal.strange);
}

function broken(work: Work, why: string): Answer {
  const last = callsNow(work).at(-1);
  const found = last?.note?.cell === 'report' ? null : lastReport(work);
  return answer(
    paragraphs([
      `I could not finish. ${last ? `While ${doing(last.note)}, ` : ''}${why}`,
      ...(found === null ? [] : [`What I had before that: ${found}`]),
      ...nothingMailed(work),
      'Say “Try again” and I go on from what is there.',
      ...asides(work.goal),
    ]),
  );
}

function lastReport({ facts, since, goal }: Work): string | null {
  const made = facts.calls.findLast(({ turn, note }) => turn >= since && note?.cell === 'report');
  const report = made?.note?.cell === 'report' ? facts.report(made.note.month, goal.leaveOut, since) : null;
  return report && totalLine(report);
}

function nothingMailed({ goal, facts, since }: Work): readonly string[] {
  const posted = facts.calls.some(({ askedIn, note }) => askedIn >= since && note?.cell === 'mail');
  return goal.mail === 'no' || posted ? [] : ['Nothing was mailed.'];
}

function doing(note: Note | null): string {
  switch (note?.cell) {
    case 'describe':
      return `reading what the ${note.service} service says about itself`;
    case 'find':
      return 'looking up the account';
    case 'open':
    case 'renew':
      return 'authenticating';
    case 'load':
      return `loading the invoices of ${monthName(note.month)}`;
    case 'report':
      return `summing up ${monthName(note.month)}`;
    default:
      return 'working';
  }
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

const callsNow = ({ facts, since }: Work): readonly Called[] =>
  facts.calls.filter(({ askedIn }) => askedIn >= since);

const retried = (step: Run, { why, attempt }: Extract<Trouble, { kind: 'retry' }>): Run => ({
  ...step,
  say: `${why}; I try again (attempt ${attempt}). ${step.say}`,
});

const paragraphs = (texts: readonly string[]): string => texts.join('\n\n');
