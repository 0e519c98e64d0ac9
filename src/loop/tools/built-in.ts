/**
 * Tools that are verbs of the loop itself: what they ask for becomes an event and no effect, since nothing outside is
 * touched. A model calls them by name, code in cells as `tools.sleep(…)`.
 *
 * U1  Planning is pure, like that of any tool: same arguments on the same state, same event.
 * U2  Waiting holds nothing: an instant or a question in the log, and no worker.
 */

import type { EventBody, Origin } from '../../core/event.ts';
import { mint } from '../../core/ids.ts';
import type { ToolSpec } from '../../core/message.ts';
import type { State } from '../../core/state.ts';
import { instantOf } from '../../lib/instant.ts';
import { isRecord, type Json } from '../../lib/json.ts';
import { wellFormed } from '../../lib/well-formed.ts';
import type { Refusal } from '../../tools/port.ts';

export interface BuiltIn {
  readonly spec: ToolSpec;
  plan(s: State, origin: Origin, args: Json): EventBody | Refusal;
}

const DAY_MS = 24 * 3_600_000;
const LONGEST_MS = 365 * DAY_MS;

export const sleep: BuiltIn = {
  spec: {
    name: 'sleep',
    description:
      'Wait for a while or until an instant; it may be days, and costs nothing. A message that comes meanwhile gives ' +
      'you a turn; the timer goes on and you are told when the time has come.',
    input: {
      type: 'object',
      properties: {
        seconds: { type: 'number', description: 'How long.' },
        until: { type: 'string', description: 'An instant as ISO 8601, with its zone.' },
      },
      additionalProperties: false,
    },
  },
  plan(s, origin, args) {
    const due = dueOf(args, s.at);
    if (typeof due === 'string') return refuse(`sleep takes {"seconds": N} or {"until": "…"}; ${due}.`);
    return { kind: 'timer.set', timer: mint.timer(s.counters), due, origin };
  },
};

const askPerson: BuiltIn = {
  spec: {
    name: 'ask_person',
    description:
      'Ask the person a question that only they can answer, and wait for it; it may take days. Use it when the work ' +
      'cannot go on without the answer, not to report.',
    input: {
      type: 'object',
      properties: {
        question: { type: 'string', description: 'One question, with what they need to know to answer it.' },
        choices: {
          type: 'array',
          items: { type: 'string' },
          description: 'Answers to choose from, if only these will do.',
        },
        seconds: {
          type: 'number',
          description: 'How long an answer is of use. Without it, it is waited for as long as it takes.',
        },
      },
      required: ['question'],
      additionalProperties: false,
    },
  },
  plan(s, origin, args) {
    const { question, choices = [], seconds = null } = isRecord(args) ? args : {};
    if (typeof question !== 'string' || question.trim() === '' || question.length > 4_000)
      return refuse('ask_person takes {"question": "…"} of at most 4,000 characters.');
    if (!isChoices(choices))
      return refuse('The choices of ask_person are up to 20 different texts of at most 200 characters.');
    if (seconds !== null && !(typeof seconds === 'number' && seconds >= 1 && seconds <= LONGEST_MS / 1_000))
      return refuse('The seconds of ask_person are a number from 1 to those of a year.');
    return {
      kind: 'decision.requested',
      decision: mint.decision(s.counters),
      about: 'question',
      effect: null,
      origin,
      question: wellFormed(question.trim()),
      why: '',
      options: ['answer'],
      choices: choices.map(wellFormed),
      digest: null,
      expiresAt: seconds === null ? null : s.at + Math.ceil(seconds * 1_000),
    };
  },
};

const progress: BuiltIn = {
  spec: {
    name: 'progress',
    description:
      'Tell the people who watch, in a line, how far the work is. It is no answer and wakes nobody.',
    input: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
  },
  plan(s, origin, args) {
    const text = isRecord(args) ? args.text : undefined;
    if (typeof text !== 'string' || text.trim() === '' || text.length > 2_000)
      return refuse('progress takes {"text": "…"} of at most 2,000 characters.');
    const step = s.turn?.steps ?? 0;
    return { kind: 'progress.noted', turn: s.turn?.number ?? s.turns, step, text: wellFormed(text), origin };
  },
};

export const BUILT_IN: readonly BuiltIn[] = [askPerson, progress, sleep];

/** An instant, or what is wrong with the arguments. */
function dueOf(args: Json, now: number): number | string {
  const { seconds, until } = isRecord(args) ? args : {};
  if ((seconds === undefined) === (until === undefined)) return 'one of the two is needed';
  const due = seconds === undefined ? instantOf(until) : now + Number(seconds) * 1_000;
  if ((seconds !== undefined && typeof seconds !== 'number') || !Number.isFinite(due))
    return 'that is no number, or no instant with a zone';
  if (Number(seconds) < 0) return 'nobody can wait for less than nothing';
  if (due > now + LONGEST_MS) return 'a year is the longest';
  return Math.max(Math.ceil(due), now + 1);
}

function isChoices(value: Json): value is readonly string[] {
  if (!Array.isArray(value) || value.length > 20 || new Set(value).size !== value.length) return false;
  return value.every((one) => typeof one === 'string' && one.trim() !== '' && one.length <= 200);
}

const refuse = (message: string): Refusal => ({ refused: { code: 'call.invalid', message } });
