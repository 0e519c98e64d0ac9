/**
 * The agent: scripted and deterministic, a pure function of its request. It asks for what the person wants, one after
 * the other or, where the tool takes a list, all at once; tries again what failed, as a real one does; and then says
 * what the results say, in counts.
 */

import type { ModelRequest, RequestMessage } from '../core/message.ts';
import type { Json } from '../lib/json.ts';
import type { Model, ModelReply } from '../models/port.ts';
import { SKIPPED } from './strategies.ts';

/** One call that the person wants made. `what` names it in the books; identical ones are wanted as often as they stand. */
export interface Call {
  readonly tool: string;
  readonly args: Json;
  readonly what: readonly string[];
}

export interface Order {
  readonly calls: readonly Call[];
  /** All at once; otherwise one after the other. */
  readonly together: boolean;
  /** What an earlier life is known to have done: its transcript. */
  readonly before: readonly Step[];
}

/** A call and its result, as a transcript has them. */
export interface Step {
  readonly tool: string;
  readonly args: Json;
  readonly status: Status;
}

type Status = 'done' | 'failed' | 'skipped' | 'unknown';

const MARK = 'ORDER ';
const TRIES = 3;

export const orderText = (order: Order): string =>
  `Do this and say what became of it.\n${MARK}${JSON.stringify(order)}`;

export const agent = (): Model => ({
  name: 'scripted/break',
  scripted: true,
  generate: async (request) => replyTo(request),
});

function replyTo(request: ModelRequest): ModelReply {
  const order = orderIn(request.messages);
  const slots = filled(order.calls, [...order.before, ...stepsIn(request.messages)]);
  const open = slots.filter(({ status, tries }) => status === null || (status === 'failed' && tries < TRIES));
  const next = (order.together ? open : open.slice(0, 1)).map(({ call }) => call);
  const parts: ModelReply['parts'] =
    next.length > 0
      ? next.map(({ tool, args }) => ({ type: 'tool-call', tool, input: args }))
      : [{ type: 'text', text: told(slots) }];
  const usage = { inputTokens: tokens(request.messages), outputTokens: tokens(parts), cachedTokens: 0 };
  return { parts, finish: next.length > 0 ? 'tool-calls' : 'stop', usage };
}

/** Four characters a token, as a rule of thumb: only differences count here. */
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);

interface Slot {
  readonly call: Call;
  status: Status | null;
  tries: number;
}

const sameCall = (a: { tool: string; args: Json }, b: { tool: string; args: Json }): boolean =>
  a.tool === b.tool && JSON.stringify(a.args) === JSON.stringify(b.args);

/** Each result belongs to the first call of its kind that is still open. */
function filled(calls: readonly Call[], steps: readonly Step[]): readonly Slot[] {
  const slots: Slot[] = calls.map((call) => ({ call, status: null, tries: 0 }));
  for (const step of steps) {
    const slot = slots.find(
      ({ call, status }) => sameCall(call, step) && (status === null || status === 'failed'),
    );
    if (!slot) continue;
    slot.status = step.status;
    slot.tries++;
  }
  return slots;
}

function orderIn(messages: readonly RequestMessage[]): Order {
  const text = messages.flatMap((message) =>
    message.role === 'user' ? message.text.split('\n').filter((line) => line.startsWith(MARK)) : [],
  )[0];
  if (!text) return { calls: [], together: false, before: [] };
  return JSON.parse(text.slice(MARK.length)) as Order;
}

/** The calls of a conversation with what became of them; what is settled later is told in a note of the runtime. */
export function stepsIn(messages: readonly RequestMessage[]): readonly Step[] {
  const results = new Map<string, { status: string; text: string }>();
  const notes: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') for (const result of message.results) results.set(result.call, result);
    if (message.role === 'user' && message.text.startsWith('[outlast] Effect ')) notes.push(message.text);
  }
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    return message.parts.flatMap((part): readonly Step[] => {
      if (part.type !== 'tool-call') return [];
      const { tool, input: args } = part;
      const result = results.get(part.call);
      const status = statusOf(result);
      if (status !== 'unknown') return [{ tool, args, status }];
      const at = notes.findIndex((note) => isAbout(note, args));
      const [note] = at < 0 ? [] : notes.splice(at, 1);
      return [{ tool, args, status: note ? statusIn(note) : 'unknown' }];
    });
  });
}

function statusOf(result: { status: string; text: string } | undefined): Status {
  if (result?.status === 'done') return 'done';
  if (result?.status !== 'failed') return 'unknown';
  return result.text.includes(`[${SKIPPED}]`) ? 'skipped' : 'failed';
}

/** A result names what it is about; a failure does not, and there the order has to do. */
const isAbout = (note: string, args: Json): boolean => {
  const names = Object.values(args as { [name: string]: Json }).flat();
  return note.includes('settled now: failed') || names.some((name) => note.includes(JSON.stringify(name)));
};

const statusIn = (note: string): Status => {
  if (note.includes('settled now: done') || note.includes('did happen after all')) return 'done';
  return note.includes(`[${SKIPPED}]`) ? 'skipped' : 'failed';
};

/** One line for each thing that was wanted: `r7.a: 1 done, 0 not done, 0 unknown`. */
function told(slots: readonly Slot[]): string {
  const counts = new Map<string, { done: number; not: number; unknown: number }>();
  for (const { call, status } of slots) {
    for (const what of call.what) {
      const count = counts.get(what) ?? { done: 0, not: 0, unknown: 0 };
      counts.set(what, count);
      if (status === 'done') count.done++;
      else if (status === 'unknown') count.unknown++;
      else count.not++;
    }
  }
  const lines = [...counts].map(
    ([what, { done, not, unknown }]) => `${what}: ${done} done, ${not} not done, ${unknown} unknown`,
  );
  return lines.join('\n') || 'Nothing was asked for.';
}

export interface Claim {
  readonly what: string;
  readonly done: number;
  readonly unknown: number;
}

export const claimsIn = (text: string): readonly Claim[] =>
  [...text.matchAll(/^(\S+): (\d+) done, \d+ not done, (\d+) unknown$/gm)].map(
    ([, what = '', done, unknown]) => ({
      what,
      done: Number(done),
      unknown: Number(unknown),
    }),
  );
