/**
 * Model request → what the planner sees of work in a repository: orders, calls with their results, and what stands for the
 * compacted past. Called once per plan.
 *
 * W1  What stands for the past says what was done; how things are now is read from results that are in view.
 */

import type { Meta, ModelRequest, ResultStatus } from '../../../core/message.ts';
import { isRecord, type Json } from '../../../lib/json.ts';
import { type Order, orderIn } from './orders.ts';

export interface Call {
  readonly tool: string;
  readonly input: { readonly [name: string]: Json };
}

export interface Made extends Call {
  readonly say: string;
  readonly why: string | null;
  readonly status: ResultStatus;
  readonly text: string;
}

/** A line about the past, with the events that it names. */
export interface Line {
  readonly text: string;
  readonly sources: readonly number[];
}

export interface View {
  /** The newest order; null when nobody has ordered anything that is done here. */
  readonly order: Order | null;
  readonly tools: ReadonlySet<string>;
  /** Calls since that order, as far as they are in view. */
  readonly made: readonly Made[];
  /** Of all that are in view. */
  readonly all: readonly Made[];
  readonly decisions: readonly Line[];
  /** Edits that the ledger of the past has as done. */
  readonly ledger: readonly (Line & { readonly path: string })[];
  /** A worker or files were lost, or somebody else was at the files, and this is the first request that says so. */
  readonly isShaken: boolean;
}

const RUNTIME = '[outlast] ';
const PAST = `${RUNTIME}What came before`;
const PRESENT = `${RUNTIME}The present`;

export function viewOf(request: ModelRequest): View {
  const { messages } = request;
  const past = textAt(messages, PAST) ?? '';
  const present = textAt(messages, PRESENT) ?? '';
  let order = ordersOf(past);
  let since = 0;
  const all: Made[] = [];
  let open: ReadonlyMap<string, Omit<Made, 'status' | 'text'>> = new Map();
  for (const message of messages) {
    switch (message.role) {
      case 'user': {
        const found = message.text.startsWith(RUNTIME) ? null : orderIn(message.text);
        if (found === null) break;
        order = found;
        since = all.length;
        break;
      }
      case 'assistant': {
        const say = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
        open = new Map(
          message.parts.flatMap((part) => {
            if (part.type !== 'tool-call' || !isRecord(part.input)) return [];
            return [
              [
                part.call,
                { say, why: whyIn(part.meta), tool: part.tool, input: part.input as Call['input'] },
              ],
            ];
          }),
        );
        break;
      }
      case 'tool':
        for (const { call, status, text } of message.results) {
          const one = open.get(call);
          if (one) all.push({ ...one, status, text });
        }
    }
  }
  return {
    order,
    tools: new Set(request.tools.map(({ name }) => name)),
    made: all.slice(since),
    all,
    ...linesOf(past),
    isShaken: /^recovery report:/m.test(present) || /^files that .+ has changed since/m.test(present),
  };
}

const textAt = (messages: ModelRequest['messages'], start: string): string | undefined =>
  messages.flatMap((m) => (m.role === 'user' && m.text.startsWith(start) ? [m.text] : [])).at(-1);

/** The newest order among the instructions that stand in the compacted past. */
function ordersOf(past: string): Order | null {
  const said = past.split(/^- I\d+ \(#\d+, turn \d+, [^)]+\): /m).slice(1);
  return said.map((text) => orderIn(text.split('\n\n')[0] ?? '')).findLast((one) => one !== null) ?? null;
}

function linesOf(past: string): Pick<View, 'decisions' | 'ledger'> {
  const lines = [...past.matchAll(/^- (.+) \[((?:#\d+(?:, )?)+)\]$/gm)].map(
    ([, text = '', sources = '']) => ({
      text,
      sources: [...sources.matchAll(/\d+/g)].map(([n]) => Number(n)),
    }),
  );
  return {
    decisions: lines.flatMap(({ text, sources }) =>
      text.startsWith('decision: ') ? [{ text: text.slice('decision: '.length), sources }] : [],
    ),
    ledger: lines.flatMap(({ text, sources }) => {
      const [, path] = /^\S+ edit_file to .+ is done: "?Edited: (\S+), /.exec(text) ?? [];
      return path === undefined ? [] : [{ text, sources, path }];
    }),
  };
}

// ── our note on a call ─────────────────────────────────────────────────────────────────────────────────────

const PROVIDER = 'scripted';

/** Why an edit is made travels in its call, and comes back with the transcript. */
export const metaOf = (why: string): Meta => ({ [PROVIDER]: { why } });

function whyIn(meta: Meta | undefined): string | null {
  const note = meta?.[PROVIDER];
  return isRecord(note) && typeof note.why === 'string' ? note.why : null;
}
