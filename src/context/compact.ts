/**
 * What a model is asked before the oldest part of its view leaves it, and how its answer is read. Pure.
 *
 * Q1  It is the request that it would get now, and one message behind it: what a provider has cached is read again, at a
 *     tenth of the price.
 * Q2  It gets the numbers that it may name. A line without one, or with another one, refuses the whole answer.
 * Q3  Nothing of it enters the transcript, and it asks for no work.
 */

import { glimpse } from '../core/context/compaction.ts';
import type { SummaryLine } from '../core/context/event.ts';
import type { View } from '../core/message.ts';
import type { State } from '../core/state.ts';
import { buildRequest, type Surroundings } from './build.ts';

export function compactRequest(s: State, items: number, around: Surroundings): View {
  const request = buildRequest(s, around);
  return {
    ...request,
    messages: [...request.messages, { role: 'user', text: asked(s, items) }],
    isCompaction: true,
  };
}

function asked(s: State, items: number): string {
  const { past, compacting } = s.context;
  const entries = s.transcript.slice(0, items).flatMap(glimpse);
  const standing =
    past === null ? '' : ' What stands under "What is known" stays as it is: do not say it again.';
  const again = compacting?.refused ? `\nYour last answer could not be used: ${compacting.refused}.` : '';
  return [
    '[outlast] The oldest part of your view is about to leave it; the entries are listed below. Write down what must be ' +
      'known of them to do the rest of the work as well as before, and answer with nothing but lines of this form:',
    'fact: <one thing that was found out, with its exact values, names, paths and numbers> [#41]',
    'decision: <what was decided or ruled out, and why> [#41, #57]',
    `Each line ends with the numbers of the entries that it was taken from, and says only what stands there. At most 40 lines, ` +
      `each of at most 500 characters.${standing} What people said, effects, decisions of people, files and live objects are ` +
      `kept exactly without you. Call no tool, and do not go on with the work.${again}`,
    'The entries:',
    ...entries.map(({ seq, text }) => `#${seq} ${text}`),
  ].join('\n');
}

const LINE = /^\s*(?:[-*•]\s*)?\**(fact|decision)\**\s*:\s*(.+?)\s*\[((?:\s*#?\d+\s*,?)+)\]\s*\.?\s*$/i;
const OPEN = /^\s*(?:[-*•]\s*)?\**(fact|decision)\**\s*:\s*(.+?)\s*$/i;

/** The lines of an answer. One that names no source is kept as it is, so that it is refused and not lost. */
export function readLines(answer: string): readonly SummaryLine[] {
  return answer.split('\n').flatMap((line): readonly SummaryLine[] => {
    const whole = LINE.exec(line);
    if (whole) {
      const [, kind = '', text = '', sources = ''] = whole;
      return [{ kind: kindOf(kind), text, sources: numbersIn(sources) }];
    }
    const open = OPEN.exec(line);
    return open ? [{ kind: kindOf(open[1] ?? ''), text: open[2] ?? '', sources: [] }] : [];
  });
}

const kindOf = (word: string): SummaryLine['kind'] =>
  word.toLowerCase() === 'decision' ? 'decision' : 'fact';

const numbersIn = (text: string): readonly number[] => [...new Set((text.match(/\d+/g) ?? []).map(Number))];
