/** What a session is told to be among its kin: its parent, its children as far as it knows them, and what they may use. Pure. */

import { type Amounts, amountInWords, type Spent, spentInWords, WHATS } from '../core/budget/budget.ts';
import type { ChildNotice, ChildQuestion, ChildUnknown } from '../core/family/event.ts';
import { type Child, isAtWork, spentOnChildren } from '../core/family/state.ts';
import type { SessionId } from '../core/ids.ts';
import { awaitedChildren, type Phase } from '../core/phase.ts';
import type { State } from '../core/state.ts';
import { oneLine } from '../lib/text.ts';

export interface ChildInspection {
  readonly id: SessionId;
  readonly title: string;
  /** As its parent knows it; its own inspection has it exactly. */
  readonly phase: Phase;
  /** Instructions of which nothing has come yet. */
  readonly asked: number;
  /** From when on it is at work, or rests. */
  readonly since: number;
  readonly last: {
    readonly turn: number;
    readonly end: string;
    readonly text: string;
    readonly partial: readonly string[];
  } | null;
  /** By it and all below it. */
  readonly spent: Spent | null;
  /** Of it and all below it. */
  readonly questions: readonly ChildQuestion[];
  readonly unknown: readonly ChildUnknown[];
  /** What of them is to be given up, unless somebody speaks. */
  readonly notices: readonly ChildNotice[];
}

export const childrenOf = ({ family }: State): readonly ChildInspection[] =>
  family.children.map((child) => {
    const { id, title, asked, since, last, standing } = child;
    return {
      ...{ id, title, asked: asked.length, since, phase: phaseOf(child), spent: standing?.spent ?? null },
      last: last && { turn: last.turn, end: last.end, text: last.text, partial: last.partial },
      questions: standing?.questions ?? [],
      unknown: standing?.unknown ?? [],
      notices: standing?.notices ?? [],
    };
  });

function phaseOf(child: Child): Phase {
  const { id, standing } = child;
  if (standing !== null && standing.status !== 'open') return standing.status;
  if (standing?.questions.some(({ session }) => session === id)) return 'awaiting_decision';
  if (standing !== null && isAtWork(child) && standing.questions.length > 0) return 'sleeping';
  return isAtWork(child) ? 'working' : 'awaiting_input';
}

/** What the open turn waits for, where that is children. */
export function waitsInWords(s: State): string | null {
  const awaited = awaitedChildren(s).map(({ id, title, standing }) => {
    const asked = (standing?.questions ?? []).map(({ session, decision }) => `${decision} of ${session}`);
    const why = asked.length === 0 ? '' : `, which waits for a person: ${asked.join(', ')}`;
    return `${id} ("${oneLine(title, 60)}")${why}`;
  });
  return awaited.length === 0 ? null : `It waits for ${awaited.join('; ')}.`;
}

/** What children have spent, and what is held for those that are at work. */
export function childrenBudget(s: State): { readonly spent: Spent; readonly held: Amounts } | null {
  if (s.family.children.length === 0) return null;
  const { session: counted, known: spent } = spentOnChildren(s);
  const held = WHATS.map((what) => [what, Math.max(0, counted[what] - spent[what])] as const);
  return { spent, held: Object.fromEntries(held) as unknown as Amounts };
}

export function spentWithChildren(s: State): string {
  const children = childrenBudget(s);
  const own = spentInWords(s.budget.spent);
  if (children === null) return own;
  const held = WHATS.flatMap((what) =>
    children.held[what] === 0 ? [] : [amountInWords(what, children.held[what])],
  );
  const more = held.length === 0 ? '' : ` (and ${held.join(', ')} held for them)`;
  return `${own}; by children: ${spentInWords(children.spent)}${more}`;
}
