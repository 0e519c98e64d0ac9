/**
 * Model request → what can be seen in it: who said what, which calls were made with which result, and the present.
 * Called once per plan. What it means is for `facts.ts` and `goal.ts`.
 *
 * O1  Everything here comes out of the request. A note of ours on a call (`Meta`) says what the call was for; what came
 *     of it is read from its result and from nothing else.
 * O2  A turn ends with an answer, with an interruption or with a failure; whatever follows belongs to the next.
 */

import type { CallId } from '../../core/ids.ts';
import type { Meta, ModelRequest, RequestMessage, ResultStatus, ToolCallPart } from '../../core/message.ts';
import { isRecord, type Json, parseJson } from '../../lib/json.ts';

/** What a call of ours is for; it travels in the call's `meta` and comes back with the transcript. */
export type Note = (
  | { readonly cell: 'describe'; readonly service: 'billing' | 'mailing' }
  | { readonly cell: 'find'; readonly name: string | null }
  | { readonly cell: 'open'; readonly origin: string }
  | { readonly cell: 'renew' }
  | { readonly cell: 'load'; readonly month: string; readonly defines: boolean }
  | {
      readonly cell: 'report';
      readonly month: string;
      readonly leaveOut: readonly string[];
      readonly defines: boolean;
    }
  | { readonly cell: 'mail'; readonly month: string; readonly leaveOut: readonly string[] }
) & {
  /** Made again because what it makes was lost. */
  readonly lost: boolean;
};

export type Data = Readonly<Record<string, unknown>>;

export interface Called {
  readonly kind: 'called';
  readonly turn: number;
  /** The turn in which the call was made; its end can come in a later one. */
  readonly askedIn: number;
  readonly note: Note | null;
  readonly status: ResultStatus;
  readonly text: string;
  /** What the cell printed about itself; null when it printed nothing that we know. */
  readonly data: Data | null;
}

export type Entry =
  | { readonly kind: 'said'; readonly turn: number; readonly text: string }
  | { readonly kind: 'told'; readonly turn: number; readonly text: string }
  | { readonly kind: 'answered'; readonly turn: number; readonly text: string }
  /** The turn ended here without an answer. */
  | { readonly kind: 'interrupted'; readonly turn: number }
  | { readonly kind: 'failed'; readonly turn: number }
  | Called;

/** The last message of a request: what is true now. */
export interface Present {
  readonly time: string | null;
  /** Names that live in the sandbox, with their types. */
  readonly live: ReadonlyMap<string, string>;
  /** One line for each effect of which nobody knows whether it happened. */
  readonly unknown: readonly string[];
}

export interface Observations {
  readonly entries: readonly Entry[];
  /** Number of the turn that this request belongs to. */
  readonly turn: number;
  readonly present: Present;
  /** Origin of each granted service by its name. */
  readonly services: ReadonlyMap<string, string>;
  /** The account that the operator names in the system prompt. */
  readonly operatorsAccount: string | null;
  readonly hasSandbox: boolean;
}

export const RUNTIME = '[outlast] ';
const PRESENT = `${RUNTIME}The present`;
const TURN_FAILED = 'The turn ended without a response';
const INTERRUPTED = 'A person interrupted the work here';
const CUT = 'The text above was cut off';

export function observe(request: ModelRequest): Observations {
  const last = request.messages.at(-1);
  const hasPresent = last?.role === 'user' && last.text.startsWith(PRESENT);
  const past = hasPresent ? request.messages.slice(0, -1) : request.messages;
  const { entries, turn } = read(past);
  return {
    entries,
    turn,
    present: readPresent(hasPresent ? last.text : ''),
    services: new Map(
      [...request.system.matchAll(/^\s*- ([\w-]+) at (https?:\/\/[^\s/:]+(?::\d+)?)(?=[\s/:]|$)/gm)].map(
        ([, name = '', origin = '']) => [name, origin],
      ),
    ),
    operatorsAccount: /The operator's account is called "([^"\n]+)"/.exec(request.system)?.[1] ?? null,
    hasSandbox: request.tools.some((tool) => tool.name === 'code'),
  };
}

function read(messages: readonly RequestMessage[]): { entries: readonly Entry[]; turn: number } {
  const entries: Entry[] = [];
  let turn = 1;
  let open: readonly ToolCallPart[] = [];
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'user':
        if (!message.text.startsWith(RUNTIME)) entries.push({ kind: 'said', turn, text: message.text });
        else turn = hearRuntime(entries, turn, message.text.slice(RUNTIME.length));
        break;
      case 'assistant': {
        open = message.parts.filter((part) => part.type === 'tool-call');
        const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
        if (open.length === 0 && !isCut(messages[index + 1]))
          entries.push({ kind: 'answered', turn: turn++, text });
        break;
      }
      case 'tool':
        for (const { call, status, text } of message.results)
          entries.push(called(turn, noteOf(open, call), status, text));
        break;
    }
  }
  return { entries, turn };
}

/** Adds what the runtime says, and returns the turn that follows (O2). */
function hearRuntime(entries: Entry[], turn: number, text: string): number {
  const [, status, result] =
    /^Cell \S+, which was suspended, has ended: (\w+)\. ?([\s\S]*)$/.exec(text) ?? [];
  const suspended = entries.findLast((entry) => entry.kind === 'called' && entry.status === 'suspended');
  if (status !== undefined && suspended?.kind === 'called') {
    const ended = called(turn, suspended.note, status as ResultStatus, result ?? '');
    entries.push({ ...ended, askedIn: suspended.askedIn });
    return turn;
  }
  const end = text.startsWith(INTERRUPTED) ? 'interrupted' : text.startsWith(TURN_FAILED) ? 'failed' : null;
  if (end !== null) {
    entries.push({ kind: end, turn });
    return turn + 1;
  }
  entries.push({ kind: 'told', turn, text });
  return turn;
}

function isCut(next: RequestMessage | undefined): boolean {
  return next?.role === 'user' && next.text.startsWith(RUNTIME + CUT);
}

function called(turn: number, note: Note | null, status: ResultStatus, text: string): Called {
  return { kind: 'called', turn, askedIn: turn, note, status, text, data: note && printed(note.cell, text) };
}

/** The line of JSON in which a cell of ours says what it has seen. */
function printed(cell: string, text: string): Data | null {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  // Whatever else was printed is for people.
  const data = lines.map(parseJson).findLast((one) => isRecord(one) && one.cell === cell);
  return isRecord(data) ? data : null;
}

// ── our note on a call ─────────────────────────────────────────────────────────────────────────────────────

const PROVIDER = 'scripted';

export const metaOf = (note: Note): Meta => ({ [PROVIDER]: note as unknown as Json });

/** Null for calls that somebody else made: a model that this session had before. */
function noteOf(open: readonly ToolCallPart[], call: CallId): Note | null {
  const note: unknown = open.find((part) => part.call === call)?.meta?.[PROVIDER];
  return isRecord(note) && typeof note.cell === 'string' ? (note as unknown as Note) : null;
}

// ── the present ────────────────────────────────────────────────────────────────────────────────────────────

function readPresent(text: string): Present {
  const named = /^live objects \(generation \d+\): (.+)$/m.exec(text)?.[1] ?? '';
  const live = named.split('; ').flatMap((object): [string, string][] => {
    const [, name, type] = /^([\w$]+): (.+) from \S+$/.exec(object) ?? [];
    return name === undefined || type === undefined ? [] : [[name, type]];
  });
  return {
    time: /^time: (\S+)$/m.exec(text)?.[1] ?? null,
    live: new Map(live),
    unknown: [...text.matchAll(/^unknown effect .+$/gm)].map(([line]) => line),
  };
}
