/**
 * The compacted past, as the model sees it: one message in place of all that has left the view. It is made of what one
 * compaction has left and of what the ledger had settled by then, so its bytes stay the same until the next one.
 */

import { type Budgets, budgetInWords } from '../core/budget/budget.ts';
import { writes } from '../core/capability.ts';
import type { SummaryLine } from '../core/context/event.ts';
import type { Instruction, Past } from '../core/context/state.ts';
import type { ViewMessage } from '../core/message.ts';
import type { Effect, State } from '../core/state.ts';
import type { Touched } from '../core/workspace/state.ts';
import { oneLine, tail } from '../lib/text.ts';

export function renderPast(s: State, past: Past): ViewMessage {
  const lines = past.sections.flatMap((section) => section.lines);
  const blocks = [
    `What came before, in short (event #${past.seq}). Everything is kept word for word: "recall" brings back any number, or ` +
      'finds it by its words. The lines were taken from what stood there; where it matters, look it up.',
    terms(past),
    block(`What people have said, in order and word for word${cuts(past)}:`, [
      ...(past.more > 0
        ? [`${past.more} more are over, or were said again later: recall the kind "message".`]
        : []),
      ...past.instructions.map(instruction),
    ]),
    block('Done, by the ledger:', ledger(s, past)),
    block('Files changed by then, the newest first:', filesIn(past)),
    block('What is known:', lines.map(known)),
  ];
  return { role: 'user', text: `[outlast] ${blocks.filter((text) => text !== '').join('\n\n')}` };
}

/** Limits that the work itself can run into. */
const LIMITS = [
  'stepsPerTurn',
  'effectTimeoutMs',
  'cellMs',
  'heapMb',
  'outputChars',
  'childDepth',
  'childrenTotal',
  'childrenAtOnce',
] as const;

function terms({ terms: { contract, budget } }: Past): string {
  const { title, persist, startedAt, limits } = contract;
  const stays = persist ? 'stays open for the next instruction' : 'is completed with its answer';
  return [
    `The contract (#1): "${oneLine(title, 80)}", since ${new Date(startedAt).toISOString()}; it ${stays}`,
    budgetLine(budget),
    `limits: ${LIMITS.map((name) => `${name} ${limits[name]}`).join(', ')}`,
  ].join('; ');
}

export const budgetLine = ({ turn, session }: Budgets): string =>
  `budget of a turn: ${budgetInWords(turn)}, of the session: ${budgetInWords(session)}`;

const block = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : [title, ...lines.map((line) => `- ${line}`)].join('\n');

const cuts = ({ instructions }: Past): string =>
  instructions.some(({ cut }) => cut)
    ? '; where it says "cut" only the beginning, and recall #N brings all'
    : '';

function instruction({ n, seq, turn, status, text, cut }: Instruction): string {
  const what = status === 'surfaced' ? 'answered' : status === 'failed' ? 'the turn failed' : status;
  return `I${n} (#${seq}, turn ${turn}, ${what}${cut ? ', cut' : ''}): ${text}`;
}

function filesIn({ files: { files, more } }: Past): readonly string[] {
  const rest = more === 0 ? [] : [`${more} more changes: list_files shows what stands there`];
  return [...[...files].reverse().map(fileLine), ...rest];
}

/** A path is as long as its folders are deep: of a longer one the end says more. */
export const fileLine = ({ path, change, seq }: Touched['files'][number]): string =>
  `${tail(path, 120)} (${change}, #${seq})`;

const known = ({ kind, text, sources }: SummaryLine): string =>
  `${kind}: ${oneLine(text, 600)} [${sources.map((seq) => `#${seq}`).join(', ')}]`;

/** Of more, the newest are named. */
const MOST_EFFECTS = 20;

/** Writes that were settled before the compaction; what was settled later is told where it happened. */
function ledger(s: State, { seq }: Past): readonly string[] {
  const settled = s.effects.closed.filter(
    ({ capability, settledSeq }) => writes(capability) && settledSeq !== null && settledSeq < seq,
  );
  const older = settled.length - MOST_EFFECTS;
  return [
    ...(older > 0 ? [`${older} older ones: recall the kind "effect"`] : []),
    ...settled.slice(-MOST_EFFECTS).map(effectLine),
  ];
}

function effectLine({ id, tool, target, status, args, outcome, settledSeq }: Effect): string {
  const came = outcome?.status === 'done' ? `: ${oneLine(JSON.stringify(outcome.result), 120)}` : '';
  return `${id} ${tool} to ${target} ${oneLine(JSON.stringify(args), 120)} is ${status}${came} [#${settledSeq}]`;
}
