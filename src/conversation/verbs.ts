/**
 * How a turn of a conversation ends beside with words of its own: with what a task has said, or without a word. Both are
 * verbs of the loop: they touch nothing outside.
 */

import type { EventBody } from '../core/event.ts';
import type { State } from '../core/state.ts';
import { isRecord, type Json } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { type BuiltIn, sleep } from '../loop/tools/built-in.ts';
import type { Refusal } from '../tools/port.ts';

const letPass: BuiltIn = {
  spec: {
    name: 'let_pass',
    description:
      'End this turn without a word to the person, when nothing of what has come is worth one. Not when the person has ' +
      'said something: that is answered.',
    input: { type: 'object', properties: {}, additionalProperties: false },
  },
  plan(s, origin) {
    if (origin.by !== 'call') return refuse('call.invalid', 'let_pass is a call.');
    if (s.turn?.answers.length !== 0)
      return refuse('pass.answer', 'The person has said something in this turn: answer it.');
    return { kind: 'ending.chosen', call: origin.call, relay: null };
  },
};

const relay: BuiltIn = {
  spec: {
    name: 'relay',
    description:
      'Give the person the last response of a task, word for word and with what it did, and end this turn. Several in one ' +
      'step go out together.',
    input: {
      type: 'object',
      properties: { task: { type: 'string', description: 'Its id: ses_…' } },
      required: ['task'],
      additionalProperties: false,
    },
  },
  plan(s, origin, args): EventBody | Refusal {
    if (origin.by !== 'call') return refuse('call.invalid', 'relay is a call.');
    const child = taskIn(s, args);
    if (!child?.last) return refuse('relay.none', 'There is no such task, or it has not answered yet.');
    const { id: task, last } = child;
    if (isSaid(s, task, last.seq))
      return refuse('relay.repeated', 'The person has this response already. Nothing is told twice.');
    return { kind: 'ending.chosen', call: origin.call, relay: { task, seq: last.seq } };
  },
};

/** `sleep` of a conversation: it waits for nothing, and is told when the time has come. */
const remind: BuiltIn = {
  spec: {
    ...sleep.spec,
    name: 'remind_me',
    description: 'Be woken after a while or at an instant; it may be days. Nothing waits for it.',
  },
  plan: (s, origin, args) => sleep.plan(s, origin, args),
};

export const CONVERSATION_VERBS: readonly BuiltIn[] = [letPass, relay, remind];

/** Relayed before, or about to be by another call of this step. */
const isSaid = ({ conversation }: State, task: string, seq: number): boolean =>
  conversation.relayed[task as keyof typeof conversation.relayed] === seq ||
  conversation.endings.some(({ relay: one }) => one?.task === task && one.seq === seq);

const taskIn = (s: State, args: Json) => {
  const id = isRecord(args) && typeof args.task === 'string' ? oneLine(args.task, 60) : '';
  return s.family.children.find((child) => child.id === id);
};

const refuse = (code: string, message: string): Refusal => ({ refused: { code, message } });
