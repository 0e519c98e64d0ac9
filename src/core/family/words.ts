/**
 * What a parent reads of its children, in words. What a child has written is material: each line of it is marked as a
 * quotation, so that nothing in it can pass for a word of the runtime or of a person.
 */

import { clip, oneLine } from '../../lib/text.ts';
import type { Claim } from '../claims.ts';
import type { SessionId } from '../ids.ts';
import type { ChildNotice, ChildQuestion, ChildResult, ResultEnd } from './event.ts';

interface Named {
  readonly noun: 'Child' | 'Task';
  readonly id: SessionId;
  readonly title: string;
}

/** Characters of a result that are quoted; all of it stands in the event that is named. */
const QUOTED_CHARS = 12_000;

export const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

/** `seq`: the event of the reader's own log that holds it. */
export function toldByChild(child: Named, result: ChildResult, seq: number): string {
  const { turn, end, text, claims, partial } = result;
  const isCut = text.length > QUOTED_CHARS;
  return [
    `${named(child)} ${ENDS[end]}${turn > 1 ? ` in its turn ${turn}` : ''}:`,
    quoted(clip(text, QUOTED_CHARS)),
    ...(isCut ? [`(cut here; recall #${seq} shows all of it)`] : []),
    ...(partial.length === 0 ? [] : [`Parts of its own were cut off: ${partial.map(title).join(', ')}.`]),
    ...(claims.length === 0 ? [] : ['What it did outside, as its ledger knows it:', ...claims.map(claimed)]),
  ].join('\n');
}

export function toldOfQuestions(child: Named, questions: readonly ChildQuestion[]): string {
  const asked = questions.map(
    ({ session, decision, question }) =>
      `decision ${decision} of ${session}:\n${quoted(oneLine(question, 1_000))}`,
  );
  return `${named(child)} waits for a person:\n${asked.join('\n')}`;
}

/** What of it is to be given up, and how it is kept: an order does that. */
export function toldOfNotices(child: Named, notices: readonly ChildNotice[]): string {
  const tool = child.noun === 'Task' ? 'tell_task' : 'continue_child';
  const said = notices.map(({ session, until, what }) => {
    const isOwn = session === child.id;
    const keeps = isOwn
      ? `whatever it is told before, with ${tool}`
      : `only what is said to ${session} itself`;
    return [
      `at ${new Date(until).toISOString()}${isOwn ? '' : ` of ${session} below it`}, by its owner's policy:`,
      quoted(what),
      `It is kept by ${keeps}.`,
    ].join('\n');
  });
  return `${named(child)} rests, and something that it holds is to be given up\n${said.join('\n')}`;
}

export function toldOfGone(child: Named, gone: readonly ChildNotice[]): string {
  const said = gone.map(
    ({ session, what }) => `${session === child.id ? '' : `of ${session} below it:\n`}${quoted(what)}`,
  );
  return `${named(child)} has lost what was to be given up; it knows of that when it goes on:\n${said.join('\n')}`;
}

export const named = ({ noun, id, title: of }: Named): string => `${noun} ${id} (${title(of)})`;

export const endInWords = ({ end }: Pick<ChildResult, 'end'>): string => ENDS[end];

const title = (text: string): string => `"${oneLine(text, 60)}"`;

const ENDS: Readonly<Record<ResultEnd, string>> = {
  surfaced: 'answered',
  failed: 'failed',
  interrupted: 'was interrupted',
  stopped: 'was stopped',
  quarantined: 'was taken out of the way, and waits for a person',
  budget: 'was cut off by its budget',
};

const claimed = ({ effect, tool, target, status, receipt }: Claim): string =>
  `- ${effect} ${tool} to ${target}: ${status}${receipt === null ? '' : ` (${oneLine(receipt, 160)})`}`;
