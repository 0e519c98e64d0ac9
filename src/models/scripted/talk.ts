/**
 * The planner as a conversation: it starts the demo's work, passes on what belongs to it, relays what comes of it, and says
 * of everything else that it is no model. Under the same rules as the rest of it (B1 to B3).
 */

import type { ModelRequest } from '../../core/message.ts';
import { type Json, parseJson } from '../../lib/json.ts';
import { oneLine } from '../../lib/text.ts';
import type { ModelReply, ReplyPart } from '../port.ts';
import { hear, type Order } from './instructions.ts';
import { findMonths } from './months.ts';
import { RUNTIME } from './observations.ts';

type Asked = readonly [tool: string, input: { readonly [name: string]: Json }];

/** Null when this is no conversation. */
export function talkReply(request: ModelRequest): ModelReply | null {
  if (request.isCompaction || !request.tools.some(({ name }) => name === 'start_task')) return null;
  const { said, told, results } = news(request);
  const tasks = tasksIn(request);
  if (said.length > 0) return answer(said.join('\n'), tasks);
  if (results.length > 0) return say(results.map((result) => became(result)).join('\n'));
  return told.length > 0 ? passOn(told) : say(HELP);
}

const HELP =
  "I am a scripted planner and no model, so I know only a few requests. Say, for example: Report on February's invoices. " +
  'Then: Now do the same for March. Or: without the test customer. Or: stop.';

/** What a task of the view is known by. */
interface Task {
  readonly id: string;
  readonly title: string;
  readonly request: string;
  readonly isOver: boolean;
  readonly questions: readonly { readonly decision: string; readonly session: string }[];
}

// ── what a person says ─────────────────────────────────────────────────────────────────────────────────────

function answer(text: string, tasks: readonly Task[]): ModelReply {
  const decided = decision(text, tasks);
  if (decided !== null) return call(['decide_task', decided]);
  const { orders, strange } = hear(text);
  if (strange !== null || orders.length === 0)
    return say(strange === null ? HELP : `${notKnown(strange)} ${HELP}`);
  const task = ownerOf(text, tasks);
  if (orders.every(({ kind }) => kind === 'stop'))
    return task ? call(['stop_task', { task: task.id }]) : say('Nothing is at work that could be stopped.');
  if (task && isFurther(text, orders)) return call(['tell_task', { task: task.id, message: text }]);
  if (!orders.some(({ kind }) => kind === 'report'))
    return say(`There is no work yet that this belongs to. ${HELP}`);
  // Whoever reads a report may want another month, a correction, or have it mailed.
  return call(['start_task', { task: text, title: oneLine(text, 60), keep_open: true }]);
}

const notKnown = (strange: string): string => `I do not know what to do with “${oneLine(strange, 80)}”.`;

/** The task that speaks of the same month, or else the newest that is not over. */
function ownerOf(text: string, tasks: readonly Task[]): Task | undefined {
  const open = tasks.filter(({ isOver }) => !isOver);
  const months = monthsOf(text);
  const same = open.findLast(({ request }) => monthsOf(request).some((month) => months.includes(month)));
  return same ?? open.at(-1);
}

const monthsOf = (text: string): readonly number[] => findMonths(text).months.map(({ month }) => month);

/** A report on a month is work of its own, unless it is to be the same again. */
const isFurther = (text: string, orders: readonly Order[]): boolean =>
  /\b(?:same|now|also|again)\b/i.test(text) ||
  !orders.some((one) => one.kind === 'report' && one.month !== null);

const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['approve', 'approve'],
  ['yes', 'approve'],
  ['reject', 'reject'],
  ['no', 'reject'],
  ['done', 'done'],
  ['not done', 'not-done'],
]);

/** `approve d1`, or a yes or no while one question is open. */
function decision(text: string, tasks: readonly Task[]): Asked[1] | null {
  const [, word = '', name] =
    /^(approve|reject|yes|no|done|not done)\b(?: (d\d+))?(?: of .+)?[.! ]*$/i.exec(text.trim()) ?? [];
  const answered = ANSWERS.get(word.toLowerCase());
  if (answered === undefined) return null;
  const open = tasks.flatMap(({ questions }) => questions);
  const meant = name === undefined ? open : open.filter((one) => one.decision === name.toLowerCase());
  const [asked] = meant.filter(({ session }) => meant.length === 1 || text.includes(session));
  return asked
    ? { task: asked.session, decision: asked.decision, answer: answered, words: text.trim() }
    : null;
}

// ── what tasks say ─────────────────────────────────────────────────────────────────────────────────────────

function passOn(told: readonly string[]): ModelReply {
  const answered = told.flatMap(
    (text) => /^Task (ses_\w+) \(.*?\) answered(?: in its turn \d+)?:/.exec(text)?.[1] ?? [],
  );
  const others = told.filter((text) => !/^Task ses_\w+ \(.*?\) answered(?: in its turn \d+)?:/.test(text));
  const worth = others.filter((text) => /^(?:Task |Timer )/.test(text));
  if (worth.length === 0 && answered.length === 0) return call(['let_pass', {}]);
  if (worth.length === 0) return call(...[...new Set(answered)].map((task): Asked => ['relay', { task }]));
  const asks = worth.some((text) => text.includes('waits for a person'));
  return say(
    [...told, ...(asks ? ['Say “approve” or “reject” with the id of the decision.'] : [])].join('\n\n'),
  );
}

const DONE: Readonly<Record<string, string>> = {
  start_task: 'It is started, and reports here.',
  tell_task: 'It has been told.',
  stop_task: 'It is stopped.',
  decide_task: 'It has your decision.',
};

const became = ({ tool, status, text }: { tool: string; status: string; text: string }): string =>
  status === 'done' ? (DONE[tool] ?? text) : `${tool}: ${status}. ${text}`;

// ── reading ────────────────────────────────────────────────────────────────────────────────────────────────

/** What stands behind its last reply. */
function news({ messages }: ModelRequest) {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1, -1);
  const texts = since.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  return {
    said: texts.filter((text) => !text.startsWith(RUNTIME)),
    told: texts.filter((text) => text.startsWith(RUNTIME)).map((text) => text.slice(RUNTIME.length)),
    // Those of a turn that ended with them need no word.
    results: since
      .flatMap((message) => (message.role === 'tool' ? message.results : []))
      .filter(({ tool, status }) => !(ENDS.has(tool) && status === 'done')),
  };
}

function tasksIn({ messages }: ModelRequest): readonly Task[] {
  const last = messages.at(-1);
  const present = last?.role === 'user' ? last.text : '';
  return present.split(/^(?=- ses_)/m).flatMap((part): readonly Task[] => {
    const [, id, title = '""', phase = ''] = /^- (ses_\w+) ("(?:[^"\\]|\\.)*"): (\w+)/.exec(part) ?? [];
    if (id === undefined) return [];
    const request = /^ {2}request: (".*")$/m.exec(part)?.[1] ?? '""';
    const questions = [...part.matchAll(/^ {2}open question (d\d+) of (ses_\w+) /gm)].map(
      ([, decision = '', session = '']) => ({ decision, session }),
    );
    const isOver = phase === 'stopped' || phase === 'stopping';
    return [{ id, title: unquoted(title), request: unquoted(request), isOver, questions }];
  });
}

const ENDS: ReadonlySet<string> = new Set(['relay', 'let_pass']);

const unquoted = (text: string): string => String(parseJson(text) ?? '');

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

const say = (text: string): ModelReply => ({ parts: [{ type: 'text', text }], finish: 'stop', usage: USAGE });

const call = (...asked: readonly Asked[]): ModelReply => ({
  parts: asked.map(([tool, input]): ReplyPart => ({ type: 'tool-call', tool, input })),
  finish: 'tool-calls',
  usage: USAGE,
});
