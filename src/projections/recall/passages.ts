/**
 * Passages: what an event says in words, in pieces that fit into an answer. Derived from the log and from nothing else.
 *
 * A1  The text of an event is the same for ever: `#41` cites it, and an offset into it means the same character always.
 * A2  Its passages are that text, cut at lines or spaces, without a gap: `#41.2` is the second of them.
 * A3  What another event says already (a response as its reply did, a cell as its call did, a summary as its sources did)
 *     is found once: an echo has a text, and no passages. What was recalled is an echo, too.
 * A4  Reasoning, sealed bytes and files are no words.
 */

import type { Outcome } from '../../core/capability.ts';
import type { SummaryLine } from '../../core/context/event.ts';
import { outcomeInWords } from '../../core/effect.ts';
import type { Event, EventOf, ForeignEvent } from '../../core/event.ts';
import { cellInWords } from '../../core/heap/evolve.ts';
import type { EffectId } from '../../core/ids.ts';
import type { Json } from '../../lib/json.ts';

export const PASSAGE_KINDS = [
  'message',
  'reply',
  'call',
  'result',
  'output',
  'response',
  'progress',
  'decision',
  'note',
] as const;

export type PassageKind = (typeof PASSAGE_KINDS)[number];

export interface Passage {
  /** Of its event. */
  readonly seq: number;
  /** 1, 2, 3 … */
  readonly part: number;
  readonly kind: PassageKind;
  readonly at: number;
  /** Where it begins in the text of its event. */
  readonly from: number;
  readonly text: string;
}

/** What an event says: pieces, one for each thing of its own kind. */
export interface Said {
  readonly pieces: readonly { readonly kind: PassageKind; readonly text: string }[];
  /** A3. */
  readonly isEcho: boolean;
}

/** Units of a passage, some 300 tokens: a dozen of them fit into what is recalled at once. */
const MOST = 1_200;

/** The whole text of an event; empty when it says nothing in words. */
export const textOf = (event: Event | ForeignEvent): string => joined(said(event));

/** What can be found of an event. `isRecall` tells the effects that only repeat the log. */
export function passagesOf(
  event: Event | ForeignEvent,
  isRecall: (effect: EffectId) => boolean,
): readonly Passage[] {
  if (event.kind === 'effect.settled' && isRecall(event.effect)) return [];
  const all = said(event);
  return all.isEcho ? [] : partsOf(event, all);
}

/** A2, of any event: what `#41.2` means. */
export const partsIn = (event: Event | ForeignEvent): readonly Passage[] => partsOf(event, said(event));

function partsOf({ seq, at }: Event | ForeignEvent, { pieces }: Said): readonly Passage[] {
  const parts: Passage[] = [];
  let from = 0;
  for (const { kind, text } of pieces) {
    for (const cut of cutUp(text)) {
      parts.push({ seq, part: parts.length + 1, kind, at, from, text: cut });
      from += cut.length;
    }
    from += JOINT.length;
  }
  return parts;
}

const JOINT = '\n';
const joined = ({ pieces }: Said): string => pieces.map(({ text }) => text).join(JOINT);

/** At the last line that fits, else at the last space, else inside a word, and never inside a character. */
function cutUp(text: string): string[] {
  const cuts: string[] = [];
  let rest = text;
  while (rest.length > MOST) {
    const window = rest.slice(0, MOST);
    const line = window.lastIndexOf('\n') + 1;
    const space = window.lastIndexOf(' ') + 1;
    const end = line > MOST / 3 ? line : space > MOST / 3 ? space : whole(window);
    cuts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest === '' ? cuts : [...cuts, rest];
}

const whole = (window: string): number =>
  /[\ud800-\udbff]$/.test(window) ? window.length - 1 : window.length;

const NOTHING: Said = { pieces: [], isEcho: false };

const one = (kind: PassageKind, text: string, isEcho = false): Said =>
  text.trim() === '' ? NOTHING : { pieces: [{ kind, text }], isEcho };

export function said(event: Event | ForeignEvent): Said {
  switch (event.kind) {
    case 'message.accepted':
      return one('message', event.text);
    case 'model.completed':
      return reply(event);
    case 'model.failed':
      return one('reply', event.partial);
    case 'response.surfaced':
      return one('response', event.text, true);
    case 'progress.noted':
      return one('progress', event.text, event.origin === null);
    case 'turn.failed':
      return one('note', event.reason);
    case 'call.refused':
    case 'effect.refused':
      return one('note', event.message);
    case 'effect.intended':
      return one('call', callInWords(event.tool, event.args), event.origin.by === 'call');
    case 'effect.settled':
      return result(event.outcome);
    case 'effect.reconciled':
      return event.finding.status === 'done' || event.finding.status === 'failed'
        ? one('result', `${outcomeInWords(event.finding)} (${event.note})`)
        : one('note', event.note);
    case 'evidence.received':
      return event.outcome.status === 'absent' ? NOTHING : { ...result(event.outcome), isEcho: true };
    case 'cell.started':
      return one('call', event.source, true);
    case 'cell.committed':
      return one('output', cellInWords(event));
    case 'cell.aborted':
      return one('output', [event.message, event.output].filter((text) => text !== '').join('\n'));
    case 'heap.restored':
      return one('note', event.note);
    case 'context.compacted':
      return one('note', event.lines.map(lineInWords).join('\n'), true);
    case 'decision.requested':
      return one('decision', [event.question, event.why, ...event.choices].filter((text) => text).join('\n'));
    case 'decision.made':
      return one('decision', event.text === '' ? event.answer : `${event.answer}: ${event.text}`);
    default:
      return NOTHING;
  }
}

/** A reply without calls is the response: it says so once. */
function reply({ parts }: EventOf<'model.completed'>): Said {
  const hasCalls = parts.some((part) => part.type === 'tool-call');
  const pieces = parts.flatMap((part): Said['pieces'] => {
    switch (part.type) {
      case 'text':
        return one(hasCalls ? 'reply' : 'response', part.text).pieces;
      case 'tool-call':
        return one('call', callInWords(part.tool, part.input)).pieces;
      case 'source':
        return one('result', part.url === null ? part.title : `${part.title} ${part.url}`).pieces;
      default:
        return [];
    }
  });
  return { pieces, isEcho: false };
}

const result = (outcome: Outcome): Said =>
  outcome.status === 'unknown' ? one('note', outcome.reason) : one('result', outcomeInWords(outcome));

const lineInWords = ({ kind, text, sources }: SummaryLine): string =>
  `${kind}: ${text} [${sources.map((seq) => `#${seq}`).join(', ')}]`;

/** Code as it was written, other arguments as JSON. */
function callInWords(tool: string, args: Json): string {
  const source = args !== null && typeof args === 'object' && 'source' in args ? args.source : undefined;
  return `${tool} ${typeof source === 'string' ? source : JSON.stringify(args)}`;
}
