/** Children in the present: a line each, and below it what of them is open. What they wrote is quoted. */

import { spentInWords } from '../core/budget/budget.ts';
import type { ChildNotice, ChildQuestion, ChildUnknown } from '../core/family/event.ts';
import { type Child, isAtWork } from '../core/family/state.ts';
import { endInWords, named, quoted } from '../core/family/words.ts';
import type { State } from '../core/state.ts';
import { oneLine } from '../lib/text.ts';

/** Of those that rest and have nothing open, the newest are named. */
const RESTING_SHOWN = 12;

export function family({ family: { children } }: State): readonly string[] {
  const resting = children.filter((child) => !isAtWork(child) && !isOpen(child));
  const hidden = new Set(resting.slice(0, -RESTING_SHOWN));
  return [
    ...children.filter((child) => !hidden.has(child)).flatMap(shown),
    ...(hidden.size === 0
      ? []
      : [`${hidden.size} more children rest, with nothing open: their results stand above or in the past`]),
  ];
}

const isOpen = ({ standing }: Child): boolean =>
  standing !== null &&
  standing.questions.length + standing.unknown.length + (standing.notices?.length ?? 0) > 0;

function shown(child: Child): readonly string[] {
  const { standing, since } = child;
  const spent = standing === null ? '' : `; spent so far: ${spentInWords(standing.spent)}`;
  return [
    `${named({ ...child, noun: 'Child' })}: ${doing(child)} since ${new Date(since).toISOString()}${spent}`,
    ...(standing?.questions ?? []).map(asked),
    ...(standing?.unknown ?? []).map(unclear),
    ...(standing?.notices ?? []).map(noticed),
  ];
}

function doing(child: Child): string {
  const status = child.standing?.status ?? 'open';
  if (status !== 'open') return `is ${status}`;
  if (isAtWork(child)) return 'at work';
  return child.last === null ? 'rests' : `rests (it ${endInWords(child.last)})`;
}

const asked = ({ session, decision, question }: ChildQuestion): string =>
  `open decision ${decision} of ${session}: a person must answer\n${quoted(oneLine(question, 300))}`;

const noticed = ({ session, until, what }: ChildNotice): string =>
  `notice: ${session} gives up at ${new Date(until).toISOString()}, unless it is told something before:\n${quoted(what)}`;

const unclear = ({ session, effect, tool, target }: ChildUnknown): string =>
  `unknown effect ${effect} of ${session}: ${tool} to ${oneLine(target, 200)}; nobody knows whether it happened. ` +
  'Your own writes to this target wait for it.';
