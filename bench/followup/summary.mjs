// Owns: the summary of the billing job as the planner writes it, when it is asked beside the work, and how a new task goes on
// from it: it need not read the description nor look the account up, and has neither client nor rows.

import { decide } from '../../dist/models/scripted/decide.js';
import { factsOf } from '../../dist/models/scripted/facts.js';
import { goalOf } from '../../dist/models/scripted/goal.js';
import { observe } from '../../dist/models/scripted/observations.js';
import { totalLine } from '../../dist/models/scripted/wording.js';

export const HEAD = 'Summary of the task before.';
const ACCOUNT = 'The account, as the billing service has it: ';
const MANUAL = 'How the billing service is used, in its own words: ';
const REQUEST = 'The request now: ';

/** A first message of a task: what is known, and what is wanted. */
export const withSummary = (summary, request) => `${summary}\n${REQUEST}${request}`;

export function billingSummary(request) {
  const seen = observe(request);
  const goal = goalOf(seen);
  const { lookup, calls, report } = factsOf(seen, goal.account ?? seen.operatorsAccount);
  const manual = calls.find(({ note }) => note?.cell === 'describe').data.text;
  const made = calls.findLast(({ note, data }) => note?.cell === 'report' && data !== null).note;
  return [
    HEAD,
    `${ACCOUNT}${JSON.stringify(lookup.account)}`,
    `Its dates are local (UTC${lookup.account.utcOffset}); a month is meant in UTC, so the edges have to be moved.`,
    `${MANUAL}${manual}`,
    totalLine(report(made.month, made.leaveOut, 1)),
    ...goal.leaveOut.map((who) => `Standing instruction: leave out the ${who}.`),
  ].join('\n');
}

/** The next step of a task that began from a summary; null where it did not. */
export function fromSummary(request) {
  const seen = observe(request);
  const text = summaryIn(seen.entries);
  if (text === null) return null;
  const account = JSON.parse(lineOf(text, ACCOUNT));
  const decision = decide(withKnown(seen, text, account));
  if (decision.kind === 'answer' || decision.note.cell !== 'open') return decision;
  const given = `// The account is known from the summary.\nconst account = ${JSON.stringify(account)};\n`;
  return { ...decision, source: `${given}${decision.source}` };
}

export function summaryIn(entries) {
  return entries.find(({ kind, text }) => kind === 'said' && text.startsWith(HEAD))?.text ?? null;
}

export function lineOf(text, head) {
  const line = text.split('\n').find((one) => one.startsWith(head));
  return line?.slice(head.length) ?? '';
}

/** As if the description had been read and the account been found: that is what the summary is worth. */
function withKnown(seen, text, account) {
  const orders = [...text.matchAll(/^Standing instruction: (.+)$/gm)].map(([, order]) => order);
  const read = (note, data) => ({
    ...{
      kind: 'called',
      turn: 1,
      askedIn: 1,
      note: { ...note, lost: false },
      status: 'done',
      text: '',
      data,
    },
  });
  const { name } = account;
  return {
    ...seen,
    entries: [
      { kind: 'said', turn: 1, text: [...orders, lineOf(text, REQUEST)].join(' ') },
      read({ cell: 'describe', service: 'billing' }, { cell: 'describe', text: lineOf(text, MANUAL) }),
      read({ cell: 'find', name }, { cell: 'find', names: [name], account }),
      ...seen.entries.filter((entry) => entry.text !== text),
    ],
    // The record is at hand: the cell that opens the client writes it down.
    present: { ...seen.present, live: new Map([['account', 'object'], ...seen.present.live]) },
  };
}
