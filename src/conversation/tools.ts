/** What a conversation does: it starts tasks, tells them something, asks them, stops them, and lists them. */

import { z } from 'zod';
import { isRecord, type Json } from '../lib/json.ts';
import { ofFamily, ordered, shareIn } from '../tools/delegate/delegate.ts';
import { defineTool } from '../tools/own.ts';
import { isRefusal, type Tool } from '../tools/port.ts';

const text = (what: string) => z.string().trim().min(1).max(100_000).describe(what);
const taskId = z.string().max(60).describe('Its id: ses_…');

const startTask = defineTool({
  name: 'start_task',
  description:
    'Start a task: a piece of work of its own, beside this conversation. It is reported when it answers.',
  input: z.strictObject({
    task: text('The whole request, with all that is needed to do it: the task knows nothing else.'),
    title: z.string().trim().min(1).max(80).describe('A few words, by which the person knows it.'),
    keep_open: z
      .boolean()
      .describe('Whether the person could plausibly send another instruction for this piece of work.'),
  }),
  capability: 'blind',
  target: 'a task',
  identity: ({ title }) => title,
  run: ({ task, title, keep_open: persist, ...rest }, context) =>
    ordered(() => context.kin().spawn({ task, title, persist, fork: false, share: shareIn(rest) })),
});

const tellTask = defineTool({
  name: 'tell_task',
  description:
    'Say something to a task that is there, at work or finished: a further instruction, a correction, an answer.',
  input: z.strictObject({ task: taskId, message: text('What it is told, in words that it understands.') }),
  capability: 'blind',
  target: ({ task }) => task,
  run: ({ task, message, ...rest }, context) =>
    ordered(() => context.kin().instruct(task, message, shareIn(rest))),
});

const stopTask = defineTool({
  name: 'stop_task',
  description: 'Stop a task: its work is over, or not wanted any more.',
  input: z.strictObject({ task: taskId }),
  capability: 'blind',
  target: ({ task }) => task,
  run: ({ task }, context) => ordered(() => context.kin().stop(task)),
});

const decideTask = defineTool({
  name: 'decide_task',
  description:
    'Pass on what the person has decided about an open question of a task. Only their own words of this turn decide: what ' +
    'is not theirs, or not clearly about this question, is refused.',
  input: z.strictObject({
    task: z.string().max(60).describe('The session that asks: ses_…'),
    decision: z.string().max(20).describe('Its id: d1'),
    answer: z.enum(['approve', 'reject', 'done', 'not-done', 'answer']),
    text: z.string().max(20_000).default('').describe('Of an answer: what is answered.'),
    words: z.string().trim().min(1).max(2_000).describe('What the person said, word for word.'),
  }),
  capability: 'blind',
  target: ({ task, decision }) => `${task} ${decision}`,
  run: ({ task, decision, answer, text: said, words }, context) =>
    ordered(() => {
      const text = answer === 'answer' && said.trim() === '' ? words : said;
      return context.kin().decide(task, decision, { answer, text });
    }),
});

const askTask = defineTool({
  name: 'ask_task',
  description:
    'Ask a task about its work, without a change to it: how far it is, what it knows. It is not told.',
  input: z.strictObject({ task: taskId, question: z.string().trim().min(1).max(20_000) }),
  capability: 'read',
  target: ({ task }) => task,
  run: ({ task, question }, context) =>
    ordered(async () => ({ answer: await context.kin().ask(task, question, context.signal) })),
});

const listTasks = defineTool({
  name: 'list_tasks',
  description:
    'All tasks of this conversation, the newest first, also those that are over and not shown any more.',
  input: z.strictObject({}),
  capability: 'read',
  target: 'tasks',
  run: async (_, context) => ({ tasks: await context.kin().list() }),
});

/** A model call has its own time. */
const ASK_MS = 600_000;

export const CONVERSATION_TOOLS: readonly Tool[] = [
  keepingOpen(ofFamily(startTask, 'spawns', false)),
  ofFamily(tellTask, 'instructs', false),
  ofFamily(stopTask, 'stops'),
  ofFamily(decideTask, 'decides'),
  { ...askTask, limitMs: () => ASK_MS },
  listTasks,
];

/** Whether it stays open stands in the log under the word that sessions have for it. */
function keepingOpen(tool: Tool): Tool {
  return {
    ...tool,
    plan(given) {
      const plan = tool.plan(given);
      if (isRefusal(plan) || !isRecord(plan.args)) return plan;
      const persist: Json = plan.args.keep_open ?? false;
      return { ...plan, args: { ...plan.args, persist } };
    },
  };
}
