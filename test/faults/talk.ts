/** Scripted conversations of these tests: what they were told, what they do, and when nothing is at work any more. */

import type { ModelRequest } from '../../src/core/message.ts';
import type { Json } from '../../src/lib/json.ts';
import type { ModelReply } from '../../src/models/port.ts';
import { type Harness, say } from '../../src/testing/harness.ts';

export const isTalking = ({ tools }: ModelRequest): boolean =>
  tools.some(({ name }) => name === 'start_task');

/** What stands behind the last reply of the model: new words of the person, new reports, results of its calls. */
export function news({ messages }: ModelRequest) {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1, -1);
  const texts = since.flatMap((m) => (m.role === 'user' ? [m.text] : []));
  return {
    said: texts.filter((text) => !text.startsWith('[outlast]')),
    told: texts.filter((text) => text.startsWith('[outlast]')),
    results: since.flatMap((m) => (m.role === 'tool' ? m.results : [])),
  };
}

interface Script {
  /** What is done at words of the person. */
  readonly said: (text: string, request: ModelRequest) => ModelReply;
  /** What is done at reports; by default the person is told how many came. */
  readonly told?: (texts: readonly string[], request: ModelRequest) => ModelReply;
  readonly task: (request: ModelRequest) => ModelReply | Promise<ModelReply>;
}

/** A conversation that answers its results with a word, and tasks. */
export const both = (script: Script) => (request: ModelRequest) => {
  if (!isTalking(request)) return script.task(request);
  const { said, told, results: got } = news(request);
  if (said.length > 0) return script.said(said.join('\n'), request);
  if (told.length > 0) return (script.told ?? ((all) => say(`heard ${all.length}`)))(told, request);
  return say(got.map(({ tool: name, status }) => `${name}: ${status}`).join(', '));
};

export const starts = (title: string, more: Record<string, Json> = {}) =>
  ['start_task', { task: title, title, keep_open: true, ...more }] as const;

export const tasksOf = async (h: Harness, session: string): Promise<readonly string[]> =>
  (await h.state(session)).family.children.map(({ id }) => id);

export const settled = (h: Harness, session: string) =>
  h.until(async () => {
    const s = await h.state(session);
    return (
      s.turn === null && s.inbox.unread.length === 0 && s.family.children.every((c) => c.asked.length === 0)
    );
  }, 'all is said');
