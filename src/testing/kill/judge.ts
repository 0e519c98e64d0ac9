/**
 * The judge of a round: reads the services' own books, and what people and the model were told. Both carry the time of
 * one machine, so a statement is compared with the books as they were when it was made.
 */

import { asksAboutEffect, fewestQuestions } from '../../break/questions.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import { InvariantChecker } from '../../projections/invariant/invariant.ts';
import type { Inspection, Verification } from '../../protocol/schema.ts';
import type { Verdict } from '../sim/verdict.ts';
import { effectsOf } from './about.ts';
import type { Approval } from './approvals.ts';
import { type Batch, claimsIn } from './batch.ts';
import { type Arrival, type Row, standing } from './books.ts';

export interface Case {
  readonly batches: readonly Batch[];
  readonly rows: readonly Row[];
  /** Every write that came to the services. */
  readonly arrivals: readonly Arrival[];
  /** What the person has said of what is asked about before, by its name. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** What the follower got, in the order in which it came. */
  readonly followed: readonly (Event | ForeignEvent)[];
  /** The log as it stands at the end. */
  readonly log: readonly (Event | ForeignEvent)[];
  readonly inspection: Inspection | null;
  readonly verification: Verification | null;
  readonly stuck: readonly string[];
}

export function judge(one: Case): Verdict {
  return {
    duplicates: duplicates(one),
    lost: lost(one),
    untrue: [...untrueEvents(one), ...untrueLedger(one), ...untoldExtras(one)],
    stuck: one.stuck,
    broken: broken(one),
    questions: one.log.filter(asksAboutEffect).length,
    questionsMinimum: fewestQuestions(one.log),
  };
}

const nameOf = ({ service, what }: { service: string; what: string }): string => `${service} ${what}`;

/** What was asked for, and not refused afterwards. */
const wantedIn = ({ batches, approvals }: Case): readonly string[] =>
  batches
    .flatMap(({ wanted }) => wanted)
    .filter(({ what }) => approvals.get(what)?.answer !== 'reject')
    .map(nameOf);

function duplicates(one: Case): readonly string[] {
  const { rows } = one;
  const wanted = new Set(wantedIn(one));
  const found = new Map<string, number>();
  for (const row of standing(rows)) found.set(nameOf(row), (found.get(nameOf(row)) ?? 0) + 1);
  return [...found].flatMap(([name, count]) =>
    count > (wanted.has(name) ? 1 : 0) ? [`${name} stands ${count} times`] : [],
  );
}

function lost(one: Case): readonly string[] {
  const found = new Set(standing(one.rows).map(nameOf));
  return wantedIn(one)
    .filter((name) => !found.has(name))
    .map((name) => `${name} does not stand in the books`);
}

function untrueEvents({ rows, log }: Case): readonly string[] {
  const effects = effectsOf(log);
  const first = new Map<string, number>();
  for (const row of rows) {
    const at = first.get(row.what) ?? Number.POSITIVE_INFINITY;
    first.set(row.what, Math.min(at, row.at));
  }
  const findings: string[] = [];
  const says = (who: string, what: string, status: string, { seq, at }: Event | ForeignEvent): void => {
    const since = first.get(what);
    const stood = since !== undefined && since <= at;
    if (status === 'done' && !stood) findings.push(`${seq}: ${who} says ${what} done, the books lacked it`);
    if ((status === 'failed' || status === 'absent') && stood)
      findings.push(`${seq}: ${who} says ${what} ${status}, the books had it`);
  };
  for (const event of log) {
    if (event.kind === 'effect.settled' || event.kind === 'effect.reconciled') {
      const about = effects.get(event.effect);
      const { status } = event.kind === 'effect.settled' ? event.outcome : event.finding;
      if (about) says(`the ledger (${event.effect})`, about.what, status, event);
    }
    const text =
      event.kind === 'response.surfaced' ? event.text : event.kind === 'cell.committed' ? event.output : '';
    const who = event.kind === 'response.surfaced' ? 'the response' : 'a result';
    for (const [what, status] of claimsIn(text)) says(who, what, status, event);
  }
  return findings;
}

function untrueLedger({ rows, log, inspection }: Case): readonly string[] {
  const effects = effectsOf(log);
  return (inspection?.ledger ?? []).flatMap(({ effect, status }) => {
    const about = effects.get(effect);
    if (!about) return [];
    const stands = standing(rows).some((row) => nameOf(row) === nameOf(about));
    const isWrong = (status === 'done' && !stands) || (status === 'failed' && stands);
    return isWrong ? [`at rest the ledger says ${nameOf(about)} (${effect}) ${status}`] : [];
  });
}

/** Rows that stood for a while and were undone again. */
export const extras = (rows: Case['rows']): readonly Row[] => rows.filter(({ undoes }) => undoes !== null);

/** What stood twice for a while is told, in the ledger of the session. */
function untoldExtras({ rows, log }: Case): readonly string[] {
  const told = new Set(
    log.flatMap((event) =>
      event.kind === 'effect.reconciled' && event.evidence === 'audited' && event.note.includes('undone')
        ? [event.effect as string]
        : [],
    ),
  );
  return extras(rows).flatMap((row) => {
    const effect = row.reference?.split('.')[1] ?? '';
    return told.has(effect) ? [] : [`an extra ${nameOf(row)} (${effect}) was undone and not told`];
  });
}

/** Nothing leaves before a person has said yes to it, and nothing at all after a no. */
function unapproved({ batches, approvals, arrivals }: Case): readonly string[] {
  const asked = new Set(batches.flatMap(({ wanted }) => wanted.filter(({ asks }) => asks).map(nameOf)));
  return arrivals.flatMap((arrival) => {
    if (!asked.has(nameOf(arrival))) return [];
    const said = approvals.get(arrival.what);
    if (said?.answer === 'approve' && said.at <= arrival.at) return [];
    const why = said ? `${said.answer} was said at ${said.at}` : 'nobody was asked';
    return [`${nameOf(arrival)} was sent at ${arrival.at}, and ${why}`];
  });
}

function broken(one: Case): readonly string[] {
  const { batches, followed, log, inspection, verification } = one;
  const findings: string[] = [...unapproved(one)];
  const checker = new InvariantChecker();
  for (const event of log) {
    findings.push(...checker.check(event).map((v) => `${v.invariant} at ${v.seq}: ${v.detail}`));
    if (event.kind === 'turn.failed')
      findings.push(`${event.seq}: turn ${event.turn} failed: ${event.reason}`);
  }
  followed.forEach((event, i) => {
    if (event.seq !== i + 1) findings.push(`the follower got ${event.seq} as number ${i + 1}`);
    const stands = log[event.seq - 1];
    if (stands && JSON.stringify(stands) !== JSON.stringify(event))
      findings.push(`${event.seq}: the follower was told another event than the one that stands`);
  });
  if (followed.length !== log.length)
    findings.push(`the follower got ${followed.length} of ${log.length} events`);
  const open = inspection?.ledger.filter(({ status }) => !CLOSED.includes(status)) ?? [];
  for (const row of open) findings.push(`at rest ${row.effect} is ${row.status}`);
  if (verification && (verification.identical !== true || verification.violations.length > 0)) {
    const { identical, diverged, problem } = verification;
    findings.push(`verify: ${JSON.stringify({ identical, diverged, problem })}`);
  }
  return [...findings, ...heapFindings(batches, log)];
}

const CLOSED: readonly string[] = ['done', 'failed', 'withdrawn'];

/** The list that the first cell made must have every batch, once, in the heap that the last cell saw. */
function heapFindings(batches: readonly Batch[], log: Case['log']): readonly string[] {
  const lists = log.flatMap((event) =>
    event.kind === 'cell.committed'
      ? [...event.output.matchAll(/^kept (.*)$/gm)].map(([, list = '']) => list)
      : [],
  );
  const longest = lists.map((list) => list.split(' ')).sort((a, b) => b.length - a.length)[0] ?? [];
  const ids = batches.map((batch) => batch.id).sort();
  return longest.slice().sort().join(' ') === ids.join(' ')
    ? []
    : [`the heap remembers ${longest.join(' ')}, the batches were ${ids.join(' ')}`];
}
